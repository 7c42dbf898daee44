//! The WebAssembly module of Holdfast: its functions for JavaScript, by area. `src/base/codec` calls
//! them.
//!
//! Linear memory: the stack (256 KiB, lowest, so that an overflow traps), static data (with the
//! states of libdeflate), then the heap of `allocator.zig`. Pointers passed in are to the caller's
//! own memory, from `alloc`. Lengths and pointers are u32. A trap means a bug: bad input has return
//! values.

const std = @import("std");
const memory = @import("allocator.zig");
const deflate = @import("deflate.zig");
const delta = @import("delta.zig");
const DeflateStream = @import("deflate_stream.zig").DeflateStream;
const InflateStream = @import("inflate_stream.zig").InflateStream;
const zlib = @import("zlib.zig");
const sha1 = @import("sha1.zig");
const object = @import("object.zig");

/// A failed safety check traps; there is nobody to read a message.
pub const panic = std.debug.no_panic;

comptime {
    _ = @import("fsck_exports.zig");
    _ = @import("indexer_exports.zig");
}

// Memory.

/// Allocates `size` bytes, aligned to 16; 0: there is no memory.
export fn alloc(size: usize) ?[*]u8 {
    return memory.take(size);
}

/// The state of the heap, for `release`.
export fn mark() usize {
    return memory.mark();
}

/// Frees everything allocated since `at` was marked.
export fn release(at: usize) void {
    memory.release(at);
}

// zlib.

/// Inflates the stream at `in` to exactly `out_len` bytes. Returns the stream's length; 0: it is
/// not such a stream.
export fn inflate_whole(in: [*]const u8, in_len: usize, out: [*]u8, out_len: usize) usize {
    return deflate.inflateWhole(in[0..in_len], out[0..out_len]) catch 0;
}

export fn deflate_bound(size: usize) usize {
    return deflate.deflateBound(size);
}

/// Writes the stream of `in` to `out`, which has the bound's size. Returns its length.
export fn deflate_whole(in: [*]const u8, in_len: usize, out: [*]u8, out_len: usize, level: u8) usize {
    return deflate.deflateWhole(in[0..in_len], out[0..out_len], level);
}

/// Allocates a stream inflater; 0: there is no memory. Ready after `inflate_stream_reset`.
export fn inflate_stream_new() ?*InflateStream {
    return @ptrCast(@alignCast(memory.take(@sizeOf(InflateStream)) orelse return null));
}

/// Size of an inflater, which is its whole state: it may be copied out and put back.
export fn inflate_stream_bytes() usize {
    return @sizeOf(InflateStream);
}

/// Prepares the inflater for a new stream.
export fn inflate_stream_reset(stream: *InflateStream) void {
    stream.init();
}

const StreamStep = extern struct { consumed: usize, produced: usize };
const StreamStatus = enum(u32) { more = 0, done = 1, bad_data = 2 };

/// Inflates what input and output allow, and writes to `result` how much that was.
export fn inflate_stream_step(
    stream: *InflateStream,
    in: [*]const u8,
    in_len: usize,
    out: [*]u8,
    out_len: usize,
    result: *StreamStep,
) StreamStatus {
    return tell(stream.step(in[0..in_len], out[0..out_len]) catch return .bad_data, result);
}

/// Allocates a stream deflater; 0: there is no memory. `raw`: without zlib's header and checksum.
export fn deflate_stream_begin(level: u8, raw: bool) ?*DeflateStream {
    const stream: *DeflateStream = @ptrCast(@alignCast(memory.take(@sizeOf(DeflateStream)) orelse return null));
    stream.init(level, raw);
    return stream;
}

/// Deflates what input and output allow, and writes to `result` how much that was. `last`: nothing
/// follows the input.
export fn deflate_stream_step(
    stream: *DeflateStream,
    in: [*]const u8,
    in_len: usize,
    out: [*]u8,
    out_len: usize,
    last: bool,
    result: *StreamStep,
) StreamStatus {
    return tell(stream.step(in[0..in_len], out[0..out_len], last), result);
}

fn tell(step: zlib.Step, result: *StreamStep) StreamStatus {
    result.* = .{ .consumed = step.consumed, .produced = step.produced };
    return if (step.done) .done else .more;
}

// SHA-1. A result is the 20 bytes at `oid`, and whether the message is part of a collision attack.

export fn sha1_begin() ?*sha1.Sha1 {
    const bytes = memory.take(@sizeOf(sha1.Sha1)) orelse return null;
    const hash: *sha1.Sha1 = @ptrCast(@alignCast(bytes));
    hash.* = .init();
    return hash;
}

export fn sha1_update(hash: *sha1.Sha1, bytes: [*]const u8, len: usize) void {
    hash.update(bytes[0..len]);
}

export fn sha1_final(hash: *sha1.Sha1, oid: *[20]u8) bool {
    const digest = hash.final();
    oid.* = digest.oid;
    return digest.collided;
}

/// Hashes `count` objects, four at a time.
export fn hash_all(jobs: [*]object.Job, count: usize) void {
    object.hashAll(jobs[0..count]);
}

// Deltas.

/// The result size that a delta states; -1: it is malformed, or not for a base of `base_len` bytes.
export fn delta_result_size(data: [*]const u8, len: usize, base_len: usize) f64 {
    const header = delta.parseHeader(data[0..len]) catch return -1;
    return if (header.base_size == base_len) @floatFromInt(header.result_size) else -1;
}

/// Writes the result of a delta, `out_len` bytes; false: the delta is malformed.
export fn delta_apply(base: [*]const u8, base_len: usize, data: [*]const u8, len: usize, out: [*]u8, out_len: usize) bool {
    delta.apply(base[0..base_len], data[0..len], out[0..out_len]) catch return false;
    return true;
}
