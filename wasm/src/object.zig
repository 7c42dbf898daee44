//! Whole objects: their ids, and their entries in a pack (gitformat-pack(5)).

const std = @import("std");
const deflate = @import("deflate.zig");
const lanes = @import("sha1_lanes.zig");
const sha1 = @import("sha1.zig");

/// Type numbers in a pack's entry headers.
pub const Kind = enum(u8) { commit = 1, tree = 2, blob = 3, tag = 4 };

const max_header = 32;

/// What is hashed before an object's content.
fn writeHeader(buffer: *[max_header]u8, kind: Kind, size: usize) []const u8 {
    return std.fmt.bufPrint(buffer, "{s} {d}\x00", .{ @tagName(kind), size }) catch unreachable;
}

/// An object to hash, in JavaScript's layout.
pub const Job = extern struct {
    data: [*]const u8,
    len: usize,
    /// A `Kind`, or 0: the bytes are hashed without a header.
    kind: u8,
    collided: bool = false,
    oid: [20]u8 = undefined,
};

/// Hashes objects, four at a time.
pub fn hashAll(objects: []Job) void {
    const batch = 64;
    var headers: [batch][max_header]u8 = undefined;
    var jobs: [batch]lanes.Job = undefined;
    var rest = objects;
    while (rest.len > 0) {
        const taken = rest[0..@min(batch, rest.len)];
        rest = rest[taken.len..];
        for (taken, jobs[0..taken.len], headers[0..taken.len]) |*o, *job, *header| job.* = .{
            .header = if (o.kind == 0) "" else writeHeader(header, @enumFromInt(o.kind), o.len),
            .data = o.data[0..o.len],
            .oid = &o.oid,
            .collided = false,
        };
        lanes.hashAll(jobs[0..taken.len]);
        for (taken, jobs[0..taken.len]) |*o, job| o.collided = job.collided;
    }
}

/// Upper bound for what `encode` writes.
pub fn encodeBound(size: usize) usize {
    return max_entry_header + deflate.deflateBound(size);
}

/// 4 + 4 × 7 bits hold every size of this address space.
const max_entry_header = 5;

/// Writes the undeltified entry of an object to `out`, which has `encodeBound` bytes. Returns the
/// entry's length.
pub fn encode(kind: Kind, data: []const u8, level: u8, out: [*]u8, oid: *[20]u8) error{Collision}!usize {
    var header: [max_header]u8 = undefined;
    var hash: sha1.Sha1 = .init();
    hash.update(writeHeader(&header, kind, data.len));
    hash.update(data);
    const digest = hash.final();
    oid.* = digest.oid;
    if (digest.collided) return error.Collision;

    var length: usize = 1;
    out[0] = @intFromEnum(kind) << 4 | @as(u8, @truncate(data.len & 15));
    var rest = data.len >> 4;
    while (rest > 0) : (rest >>= 7) {
        out[length - 1] |= 0x80;
        out[length] = @truncate(rest & 0x7f);
        length += 1;
    }
    const bound = deflate.deflateBound(data.len);
    return length + deflate.deflateWhole(data, out[length..][0..bound], level);
}
