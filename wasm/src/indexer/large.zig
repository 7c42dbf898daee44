//! An entry too large to inflate at once: it is streamed. A blob is hashed on the way and never
//! held; a tree, commit, tag or delta is collected, up to the size limit for memory. A larger delta
//! is not held: the caller applies it.

const std = @import("std");
const inflate_stream = @import("../inflate_stream.zig");
const sha1 = @import("../sha1.zig");
const contents = @import("contents.zig");
const entry_table = @import("entries.zig");
const queue = @import("queue.zig");
const Indexer = @import("indexer.zig").Indexer;
const Error = @import("failure.zig").Error;

pub const Large = struct {
    /// Its type in the pack, 1–4, 6 or 7.
    type: u8 = 0,
    size: u64 = 0,
    /// Its content is collected in the inflate buffer.
    is_held: bool = false,
    produced: u64 = 0,
    stream: *inflate_stream.InflateStream,
    hash: sha1.Sha1 = undefined,
    piece: []u8 = &.{},
};

const piece_bytes = 64 << 10;
const blob = 3;

pub fn begin(ix: *Indexer, entry_type: u8, size: u64) Error!void {
    const large = &ix.large;
    const index = ix.entries.pack_count - 1;
    if (entry_type != blob and entry_type < 6 and size > ix.options.max_resident_bytes) return ix.refuse(.object_too_large, index, size);
    large.type = entry_type;
    large.size = size;
    large.produced = 0;
    large.stream.init();
    const max_held = if (entry_type < 6) ix.options.max_resident_bytes else ix.options.max_blob_bytes;
    large.is_held = entry_type != blob and size <= max_held;
    if (!large.is_held) try contents.growTo(ix, &large.piece, 0, piece_bytes);
    if (entry_type == blob) {
        var header: [32]u8 = undefined;
        large.hash = .init();
        large.hash.update(std.fmt.bufPrint(&header, "blob {d}\x00", .{size}) catch unreachable);
    } else ix.back.entry = entry_table.no_index;
}

/// Inflates as much as the window contains; true: the entry is complete.
pub fn pump(ix: *Indexer) Error!bool {
    const large = &ix.large;
    const index = ix.entries.pack_count - 1;
    while (true) {
        const out = try outputRoom(ix);
        const step = large.stream.step(ix.window.pending(), out) catch return ix.refuse(.bad_zlib, index, large.size);
        ix.window.consumed += step.consumed;
        large.produced += step.produced;
        if (large.produced > large.size) return ix.refuse(.bad_zlib, index, large.size);
        if (large.type == blob) large.hash.update(out[0..step.produced]);
        try ix.countWork(index, step.produced);
        if (step.done) break;
        if (step.consumed == 0 and step.produced == 0) return false;
        if (ix.isSliceOver()) {
            ix.is_paused = true;
            return false;
        }
    }
    if (large.produced != large.size) return ix.refuse(.bad_zlib, index, large.size);
    ix.entries_end = ix.window.position();
    try complete(ix, index);
    ix.finishEntries();
    return true;
}

/// The next output buffer. It is one byte longer than the declared size, so that an excess is
/// detected.
fn outputRoom(ix: *Indexer) Error![]u8 {
    const large = &ix.large;
    if (!large.is_held) return large.piece;
    // What is held is within a limit of what memory takes.
    const produced: usize = @intCast(large.produced);
    const end: usize = @intCast(large.size + 1);
    try contents.growTo(ix, &ix.inflate_buffer, produced, end);
    return ix.inflate_buffer[produced..@min(ix.inflate_buffer.len, end)];
}

fn complete(ix: *Indexer, index: u32) Error!void {
    const large = &ix.large;
    if (large.type == blob) {
        const digest = large.hash.final();
        if (digest.collided) return ix.refuseObject(.collision, index, &digest.oid, 0);
        return queue.finishObject(ix, index, &digest.oid, null);
    }
    if (!large.is_held) {
        ix.entries.setSize(index, entry_table.large_delta) catch return ix.outOfMemory();
        return ix.late.add();
    }
    const size: usize = @intCast(large.size);
    if (large.type >= 6) return ix.arrive(index, ix.inflate_buffer[0..size]);
    const content = try contents.reserve(ix, index, size, entry_table.no_index);
    @memcpy(content, ix.inflate_buffer[0..size]);
    try ix.queue.push(ix, index, content);
}
