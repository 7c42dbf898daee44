//! Whole objects: their ids.

const std = @import("std");
const lanes = @import("sha1_lanes.zig");

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
