//! git's fsck of one object at a time, without allocation. Each check reads the inflated object and
//! reports findings and references to a sink, whose contract is in `sink.zig`. The rules are those
//! of git's `fsck.c`; `git fsck` is the oracle in `test/codec/fsck*.test.ts`.

const sink = @import("sink.zig");

pub const Message = @import("message.zig").Message;
pub const Kind = sink.Kind;
pub const Special = sink.Special;
pub const Oid = sink.Oid;
pub const oid_bytes = sink.oid_bytes;

pub const tree = @import("tree.zig").check;
pub const commit = @import("commit.zig").check;
pub const tag = @import("tag.zig").check;
pub const gitmodules = @import("gitmodules.zig").check;
pub const gitattributes = @import("gitattributes.zig").check;

test {
    _ = @import("names.zig");
    _ = @import("header.zig");
    _ = @import("tag.zig");
    _ = @import("submodule_url.zig");
}
