//! fsck of a tag object: `object`, `type`, `tag`, `tagger`, an optional signature, an empty line
//! and the message.

const std = @import("std");
const header = @import("header.zig");
const Kind = @import("sink.zig").Kind;

/// Checks a tag; reports its target, which must have the type that the tag declares.
pub fn check(data: []const u8, sink: anytype) void {
    var lines = header.Header.open(data, sink) orelse return;

    const object = lines.take("object ") orelse return sink.report(.missingObject);
    const target = header.parseOid(object) orelse return sink.report(.badObjectSha1);
    const declared = lines.take("type ") orelse return sink.report(.missingTypeEntry);
    if (std.meta.stringToEnum(Kind, declared)) |kind| sink.edge(&target, kind) else sink.report(.badType);
    const name = lines.take("tag ") orelse return sink.report(.missingTagEntry);
    if (!isRefname(name)) sink.report(.badTagName);

    if (lines.take("tagger ")) |tagger| {
        if (header.identFault(tagger)) |fault| sink.report(fault);
    } else sink.report(.missingTaggerEntry);

    if (lines.take("gpgsig ") orelse lines.take("gpgsig-sha256 ")) |_| {
        while (lines.take(" ")) |_| {}
    }
    if (lines.rest.len > 0 and lines.rest[0] != '\n') sink.report(.extraHeaderEntry);
}

/// Whether `refs/tags/<name>` would be a well-formed refname. See git-check-ref-format(1).
fn isRefname(name: []const u8) bool {
    if (std.mem.endsWith(u8, name, ".")) return false;
    if (std.mem.indexOf(u8, name, "..") != null or std.mem.indexOf(u8, name, "@{") != null) return false;
    for (name) |c| switch (c) {
        0...' ', 0x7f, ':', '?', '[', '\\', '^', '~', '*' => return false,
        else => {},
    };
    var components = std.mem.splitScalar(u8, name, '/');
    while (components.next()) |component| {
        if (component.len == 0 or component[0] == '.' or std.mem.endsWith(u8, component, ".lock")) return false;
    }
    return true;
}

test isRefname {
    for ([_][]const u8{ "v1.0", "a/b", "@", "-x", "v\xff", "a@b{" }) |name| try std.testing.expect(isRefname(name));
    for ([_][]const u8{ "", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a..b", "a.", "a b", "a@{b", "a~1", "a\x7f", "a/", "*" }) |name|
        try std.testing.expect(!isRefname(name));
}
