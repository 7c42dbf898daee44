//! Contents of objects that deltas need: in the ring when recent, in one of two slots when large,
//! else rebuilt from the stored bytes of their delta chain. That is done by iteration, and work
//! already done survives an interruption for bytes that are not in memory.

const std = @import("std");
const deflate = @import("../deflate.zig");
const inflate_stream = @import("../inflate_stream.zig");
const delta_format = @import("../delta.zig");
const window_parse = @import("window.zig");
const entry_table = @import("entries.zig");
const Indexer = @import("indexer.zig").Indexer;
const Error = @import("failure.zig").Error;

const no_index = entry_table.no_index;

/// A buffer for one content that is too large for the ring.
pub const Slot = struct {
    bytes: []u8 = &.{},
    entry: u32 = no_index,
    size: usize = 0,

    pub fn content(self: *const Slot) []u8 {
        return self.bytes[0..self.size];
    }
};

/// Grows `buffer` to `size` bytes, keeping the first `kept`. Grows in two steps, the second only
/// once the first is filled, so that a declared size alone never allocates much. Beyond the free
/// size it needs permission.
pub fn growTo(ix: *Indexer, buffer: *[]u8, kept: usize, size: usize) Error!void {
    if (buffer.len >= size) return;
    const first_step = 4 << 20;
    const capacity = if (kept < first_step) @min(size, first_step) else size;
    if (buffer.len >= capacity) return;
    if (capacity > ix.options.free_content_bytes and !ix.has_leave) return error.NeedMemory;
    const grown = ix.heap.alloc(u8, capacity) catch return ix.outOfMemory();
    @memcpy(grown[0..kept], buffer.*[0..kept]);
    ix.heap.free(buffer.*);
    buffer.* = grown;
}

/// The content of an entry if it is in memory.
pub fn cached(ix: *Indexer, entry: u32) ?[]u8 {
    const at = ix.entries.cachedAt(entry);
    if (ix.ring.holds(at)) return ix.ring.slice(at, ix.entries.heldSize(entry));
    for (&ix.slots) |*slot| if (slot.entry == entry) return slot.content();
    return null;
}

/// Reserves memory for the content of `entry`, which the caller fills; `beside` is an entry whose
/// content must survive.
pub fn reserve(ix: *Indexer, entry: u32, size: usize, beside: u32) Error![]u8 {
    if (size <= ix.ring.maxContent()) {
        try ix.queue.makeSafe(ix);
        if (beside != no_index) try refresh(ix, beside);
        const at = ix.ring.reserve(size) catch return ix.refuse(.too_much_work, entry, ix.work_bytes);
        ix.entries.setCachedAt(entry, at);
        return ix.ring.slice(at, size);
    }
    if (size > ix.options.max_resident_bytes) return ix.refuse(.object_too_large, entry, size);
    const slot = &ix.slots[if (ix.slots[0].entry == beside and beside != no_index) 1 else 0];
    slot.entry = no_index;
    // The content will be written completely, from bytes proven to exist: a delta's result, or an
    // object inflated for the second time.
    try growTo(ix, &slot.bytes, 0, size);
    if (slot.bytes.len < size) try growTo(ix, &slot.bytes, slot.bytes.len, size);
    slot.entry = entry;
    slot.size = size;
    return slot.content();
}

/// Moves a content that would soon be overwritten to the ring's head.
fn refresh(ix: *Indexer, entry: u32) Error!void {
    const cached_at = ix.entries.cachedAt(entry);
    if (!ix.ring.holds(cached_at) or !ix.ring.isOld(cached_at)) return;
    const size = ix.entries.heldSize(entry);
    const old = ix.ring.slice(cached_at, size);
    const at = ix.ring.reserve(size) catch return ix.refuse(.too_much_work, entry, ix.work_bytes);
    @memmove(ix.ring.slice(at, size), old);
    ix.entries.setCachedAt(entry, at);
}

/// The content of a resolved entry.
pub fn contentOf(ix: *Indexer, wanted: u32) Error![]u8 {
    if (cached(ix, wanted)) |content| return content;
    ix.chain.clearRetainingCapacity();
    var entry = wanted;
    while (cached(ix, entry) == null) {
        ix.chain.append(ix.tables.allocator(), entry) catch return ix.outOfMemory();
        switch (ix.entries.stored(entry)) {
            .plain, .external, .made => {
                try load(ix, entry);
                _ = ix.chain.pop();
                break;
            },
            .ofs_delta, .ref_delta => entry = ix.entries.base(entry),
        }
    }
    while (ix.chain.pop()) |child| {
        const delta = try readStored(ix, child);
        _ = try apply(ix, child, ix.entries.base(child), delta);
        if (ix.chain.items.len > 0 and ix.isSliceOver()) return error.Paused;
    }
    return cached(ix, wanted).?;
}

/// Builds the content of `child` from its base's, which is in memory.
pub fn apply(ix: *Indexer, child: u32, base: u32, delta: []const u8) Error![]u8 {
    const header = delta_format.parseHeader(delta) catch return ix.refuse(.bad_delta, child, 0);
    const base_size = ix.entries.size(base);
    if (header.base_size != base_size) return ix.refuse(.bad_delta, child, header.base_size);
    if (header.result_size > ix.options.max_resident_bytes) return ix.refuse(.object_too_large, child, header.result_size);
    const size: usize = @intCast(header.result_size);
    ix.entries.setSize(child, size) catch return ix.outOfMemory();
    const result = try reserve(ix, child, size, base);
    delta_format.apply(cached(ix, base).?, delta, result) catch {
        forget(ix, child);
        return ix.refuse(.bad_delta, child, size);
    };
    try ix.countWork(child, size);
    return result;
}

fn forget(ix: *Indexer, entry: u32) void {
    ix.entries.setCachedAt(entry, 0);
    for (&ix.slots) |*slot| if (slot.entry == entry) {
        slot.entry = no_index;
    };
}

/// Loads the undeltified end of a delta chain.
fn load(ix: *Indexer, entry: u32) Error!void {
    const origin = ix.entries.stored(entry);
    if (origin == .external or origin == .made) {
        ix.needed_entry = entry;
        return error.NeedBase;
    }
    // `readStored` refuses what memory does not take.
    if (ix.entries.size(entry) > ix.options.stream_threshold_bytes) {
        const content = try readStored(ix, entry);
        const size = content.len;
        const room = try reserve(ix, entry, size, no_index);
        @memcpy(room, content);
        return;
    }
    const size = ix.entries.heldSize(entry);
    const stored = try storedBytes(ix, entry);
    try ix.countWork(entry, size);
    const header = (window_parse.parseHeader(stored) catch null) orelse return ix.refuse(.bad_entry_header, entry, 0);
    const room = try reserve(ix, entry, size, no_index);
    _ = deflate.inflateWhole(stored[header.length..], room) catch {
        forget(ix, entry);
        return ix.refuse(.bad_zlib, entry, size);
    };
}

fn entryEnd(ix: *Indexer, entry: u32) u64 {
    return if (entry + 1 < ix.entries.pack_count) ix.entries.offset(entry + 1) else ix.entries_end;
}

/// The stored bytes of a small entry, header included. They may be many all the same: a zlib stream
/// may have any number of empty blocks.
fn storedBytes(ix: *Indexer, entry: u32) Error![]const u8 {
    const offset = ix.entries.offset(entry);
    const stored = entryEnd(ix, entry) - offset;
    const length = std.math.cast(usize, stored) orelse return ix.refuse(.object_too_large, entry, stored);
    if (ix.window.from(offset)) |bytes| return bytes[0..length];
    try growTo(ix, &ix.read_buffer, 0, length);
    if (ix.read_buffer.len < length) return ix.refuse(.object_too_large, entry, length);
    if (ix.readBack(offset, ix.read_buffer[0..length]) < length) return ix.need(offset, length);
    return ix.read_buffer[0..length];
}

/// Inflates an entry's stored data (a delta, or a large object) into the inflate buffer.
pub fn readStored(ix: *Indexer, entry: u32) Error![]const u8 {
    const length = entryEnd(ix, entry) - ix.entries.offset(entry);
    if (length > ix.options.stream_threshold_bytes) return inflateBack(ix, entry);
    const stored = try storedBytes(ix, entry);
    const header = (window_parse.parseHeader(stored) catch null) orelse return ix.refuse(.bad_entry_header, entry, 0);
    if (header.size > ix.options.stream_threshold_bytes) return inflateBack(ix, entry);
    const size: usize = @intCast(header.size);
    try ix.countWork(entry, size);
    try growTo(ix, &ix.inflate_buffer, 0, size);
    ix.back.entry = no_index;
    _ = deflate.inflateWhole(stored[header.length..], ix.inflate_buffer[0..size]) catch
        return ix.refuse(.bad_zlib, entry, size);
    return ix.inflate_buffer[0..size];
}

/// Progress of the second inflate of a large entry, which resumes after missing bytes were
/// supplied.
pub const Back = struct {
    entry: u32 = no_index,
    read: u64 = 0,
    produced: usize = 0,
    size: usize = 0,
    stream: *inflate_stream.InflateStream,
};

fn inflateBack(ix: *Indexer, entry: u32) Error![]const u8 {
    const piece_bytes = 256 << 10;
    const back = &ix.back;
    const offset = ix.entries.offset(entry);
    const end = entryEnd(ix, entry);
    try growTo(ix, &ix.read_buffer, 0, piece_bytes);
    if (back.entry != entry) {
        const peek: usize = @intCast(@min(64, end - offset));
        const bytes = try piece(ix, offset, peek);
        const header = (window_parse.parseHeader(bytes) catch null) orelse return ix.refuse(.bad_entry_header, entry, 0);
        if (header.size > ix.options.max_resident_bytes) return ix.refuse(.object_too_large, entry, header.size);
        back.* = .{ .entry = entry, .read = header.length, .size = @intCast(header.size), .stream = back.stream };
        back.stream.init();
    }
    while (true) {
        try growTo(ix, &ix.inflate_buffer, back.produced, back.size);
        const left: usize = @intCast(@min(piece_bytes, end - offset - back.read));
        const bytes = try piece(ix, offset + back.read, left);
        const step = back.stream.step(bytes, ix.inflate_buffer[back.produced..]) catch
            return ix.refuse(.bad_zlib, entry, back.size);
        back.read += step.consumed;
        back.produced += step.produced;
        try ix.countWork(entry, step.produced);
        if (step.done) break;
        if (step.consumed == 0 and step.produced == 0) {
            const full = back.produced == ix.inflate_buffer.len and back.produced < back.size;
            if (!full) return ix.refuse(.bad_zlib, entry, back.size);
        }
    }
    back.entry = no_index;
    return ix.inflate_buffer[0..back.size];
}

fn piece(ix: *Indexer, offset: u64, length: usize) Error![]const u8 {
    if (ix.window.from(offset)) |bytes| return bytes[0..@min(length, bytes.len)];
    const read = ix.readBack(offset, ix.read_buffer[0..length]);
    if (read > 0) return ix.read_buffer[0..read];
    if (length == 0) return ix.read_buffer[0..0];
    return ix.need(offset, length);
}
