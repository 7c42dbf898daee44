//! Pointer files of Git LFS among the pack's blobs: each names the object that has the file's
//! content. See docs/spec.md of git-lfs.

const std = @import("std");
const Indexer = @import("indexer.zig").Indexer;
const Error = @import("failure.zig").Error;

/// A pointer file is shorter.
const max_bytes = 1024;
const version = "version https://git-lfs.github.com/spec/v1\n";
const oid_key = "oid sha256:";
const size_key = "size ";
/// The largest integer that a JavaScript number holds.
const max_size = (1 << 53) - 1;

pub const Pointer = extern struct {
    /// Of the pointer file.
    node: u32,
    size_low: u32,
    size_high: u32,
    /// SHA-256 of the content.
    oid: [32]u8,
};

/// Notes a blob if it is a pointer file.
pub fn note(ix: *Indexer, node: u32, blob: []const u8) Error!void {
    if (blob.len >= max_bytes or !std.mem.startsWith(u8, blob, version)) return;
    var pointer = Pointer{ .node = node, .size_low = 0, .size_high = 0, .oid = undefined };
    if (!read(&pointer, blob[version.len..])) return;
    ix.pointers.append(ix.tables.allocator(), pointer) catch return ix.outOfMemory();
}

/// Reads the lines after the version. Whether they are a pointer's: lines of extensions are left
/// out.
fn read(pointer: *Pointer, text: []const u8) bool {
    var has_oid = false;
    var size: ?u64 = null;
    var lines = std.mem.splitScalar(u8, text, '\n');
    while (lines.next()) |line| {
        if (std.mem.startsWith(u8, line, oid_key)) {
            const hex = line[oid_key.len..];
            if (hex.len != 64) return false;
            for (hex) |digit| if (std.ascii.isUpper(digit)) return false;
            _ = std.fmt.hexToBytes(&pointer.oid, hex) catch return false;
            has_oid = true;
        } else if (std.mem.startsWith(u8, line, size_key)) {
            size = std.fmt.parseUnsigned(u64, line[size_key.len..], 10) catch return false;
        }
    }
    const bytes = size orelse return false;
    pointer.size_low = @truncate(bytes);
    pointer.size_high = @truncate(bytes >> 32);
    return has_oid and bytes <= max_size;
}
