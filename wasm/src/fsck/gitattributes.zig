//! fsck of a `.gitattributes` blob: the limits of git's attribute reader. See gitattributes(5).

const std = @import("std");

pub const file_limit_bytes = 100 << 20;
const line_limit_bytes = 2048;

/// Checks the content of a `.gitattributes`. Like git, stops at a NUL.
pub fn check(data: []const u8, sink: anytype) void {
    if (data.len > file_limit_bytes) return sink.report(.gitattributesLarge);
    var lines = std.mem.splitScalar(u8, std.mem.sliceTo(data, 0), '\n');
    while (lines.next()) |line| {
        if (line.len >= line_limit_bytes) return sink.report(.gitattributesLineLength);
    }
}
