//! The indexer's functions for JavaScript; src/base/codec/pack-indexer.ts calls them. One pack at a time
//! per instance.

const std = @import("std");
const Indexer = @import("indexer/indexer.zig").Indexer;
const failure_table = @import("indexer/failure.zig");
const InflateStream = @import("inflate_stream.zig").InflateStream;
const memory = @import("allocator.zig");
const pages = @import("indexer/pages.zig");

/// Copies stored bytes of the pack from `offset` to `out`, as many as are in memory; 0: none.
extern "holdfast" fn read_back(offset: f64, out: [*]u8, length: u32) u32;

fn readBack(offset: u64, out: []u8) usize {
    return read_back(@floatFromInt(offset), out.ptr, @intCast(out.len));
}

const Status = enum(u32) { ok = 0, refused = 1, need_bytes = 2, need_base = 3, need_large = 4, paused = 5, need_memory = 6 };

/// No limit for what is in memory comes near it.
const max_held_bytes: f64 = 1 << 31;

var indexer: Indexer = undefined;
/// The state of the heap before the first pack.
var begun: ?usize = null;

fn statusOf(result: failure_table.Error!void) Status {
    result catch |e| return switch (e) {
        error.Refused => .refused,
        error.NeedBytes => .need_bytes,
        error.NeedBase => .need_base,
        error.NeedLarge => .need_large,
        error.Paused => .paused,
        error.NeedMemory => .need_memory,
    };
    return .ok;
}

/// Begins a pack and frees the memory of the previous one. Sizes are bytes.
export fn indexer_begin(
    window_bytes: usize,
    ring_bytes: usize,
    max_objects: u32,
    max_references: f64,
    max_table_bytes: usize,
    max_resident_bytes: f64,
    max_blob_bytes: f64,
    free_content_bytes: u32,
    max_object_bytes: f64,
    max_work_bytes: f64,
    slice_bytes: u32,
    max_delta_depth: u32,
    stream_threshold_bytes: u32,
    refused: u64,
) Status {
    // What memory holds is addressed with 32 bits, and a depth takes 16.
    std.debug.assert(max_resident_bytes < max_held_bytes and max_blob_bytes <= max_resident_bytes);
    std.debug.assert(max_delta_depth <= std.math.maxInt(u16));
    if (begun) |at| memory.release(at);
    begun = memory.mark();
    const streams = memory.allocator.create([2]InflateStream) catch return .refused;
    // `take`, since an allocation is filled with a pattern, which would cost a small push more than
    // its index.
    const window = memory.take(window_bytes) orelse return .refused;
    const ring = memory.take(ring_bytes) orelse return .refused;
    indexer = .{
        .heap = memory.allocator,
        .tables = .{ .inner = memory.allocator, .left = max_table_bytes },
        .readBack = readBack,
        .window = .{ .bytes = window[0..window_bytes] },
        .ring = .{ .bytes = @alignCast(ring[0..ring_bytes]) },
        .back = .{ .stream = &streams[0] },
        .large = .{ .stream = &streams[1] },
        .options = .{
            .max_objects = max_objects,
            .max_references = @intFromFloat(max_references),
            .max_resident_bytes = @intFromFloat(max_resident_bytes),
            .max_blob_bytes = @intFromFloat(max_blob_bytes),
            .free_content_bytes = free_content_bytes,
            .max_object_bytes = @intFromFloat(max_object_bytes),
            .max_work_bytes = @intFromFloat(max_work_bytes),
            .slice_bytes = slice_bytes,
            .max_delta_depth = @intCast(max_delta_depth),
            .stream_threshold_bytes = stream_threshold_bytes,
            .refused = refused,
        },
    };
    indexer.begin();
    return .ok;
}

/// Address of the window's free space; its size is `Value.room_bytes`.
export fn indexer_room() [*]u8 {
    return indexer.window.room().ptr;
}

export fn indexer_step(length: usize) Status {
    return statusOf(indexer.step(length));
}

export fn indexer_finish() Status {
    return statusOf(indexer.finish());
}

/// Answers `need_memory`, or permits it in advance: contents may take what they need. Deltas of
/// blobs larger than `max_blob_bytes` are left to the caller from now on; the value can only be
/// lowered.
export fn indexer_allow(max_blob_bytes: f64) void {
    indexer.has_leave = true;
    indexer.options.max_blob_bytes = @min(indexer.options.max_blob_bytes, @as(u64, @intFromFloat(max_blob_bytes)));
}

/// Adds an entry for a node that the pack mentions but does not contain, so that `finish` requests
/// its content.
export fn indexer_external(node: u32) Status {
    _ = indexer.addExternal(node) catch |e| return statusOf(e);
    return .ok;
}

/// Address for the content of an external entry; 0: it is refused.
export fn indexer_supply(entry: u32, kind: u8, size: f64) ?[*]u8 {
    const content = indexer.supply(entry, @enumFromInt(kind), @intFromFloat(size)) catch return null;
    return content.ptr;
}

/// The other answer to `need_base`: there is no such object.
export fn indexer_lack(entry: u32) Status {
    return statusOf(indexer.lack(entry));
}

/// The same for a blob that is too large for memory.
export fn indexer_supply_outside(entry: u32, size: f64) Status {
    return statusOf(indexer.supplyOutside(entry, @intFromFloat(size)));
}

/// Answers `need_large`: the object's id and size.
export fn indexer_place_large(oid: *const [20]u8, size: f64) Status {
    return statusOf(indexer.late.place(&indexer, oid, @intFromFloat(size)));
}

/// Counts work that JavaScript does for the pack.
export fn indexer_count_work(bytes: f64) Status {
    return statusOf(indexer.countWork(indexer.late.present, @intFromFloat(bytes)));
}

fn spaceOf(space: u32) *pages.Space {
    return switch (space) {
        1 => &indexer.entries.table.space,
        2 => &indexer.nodes.table.space,
        3 => &indexer.edges.log,
        4 => &indexer.edges.runs.space,
        else => unreachable,
    };
}

/// Address of the table of a space's pages: the address of each, 0 where it is out.
export fn indexer_pages(space: u32) [*]u32 {
    return spaceOf(space).addresses.items.ptr;
}

/// Address of the flags of a space's pages: 1 was used, 2 was changed.
export fn indexer_page_flags(space: u32) [*]u8 {
    return spaceOf(space).flags.items.ptr;
}

/// Address of a page, which is read back if it was out.
export fn indexer_page(space: u32, page: u32) [*]u8 {
    return spaceOf(space).read(indexer.entries.home, page);
}

/// All is resolved and named: memory that only that took is free for pages.
export fn indexer_seal() void {
    indexer.seal();
}

/// Values that JavaScript may read; addresses are of the arrays described in `queue.zig` and
/// `pointers.zig`.
const Value = enum(u32) {
    room_bytes,
    /// Address and length of the bytes that the last step consumed.
    consumed_address,
    consumed_bytes,
    done,
    declared,
    pack_count,
    entry_count,
    entries_end,
    is_paused,
    deferred_count,
    node_count,
    reference_count,
    needed_entry,
    needed_offset,
    needed_length,
    needed_delta,
    needed_base,
    needed_content,
    failure_code,
    failure_detail,
    failure_oid,
    failure_offset,
    failure_value,
    table_bytes_left,
    pointer_count,
    pointers,
    run_count,
    wide_count,
    wide,
};

export fn indexer_value(what: Value) f64 {
    return switch (what) {
        .room_bytes => number(indexer.window.bytes.len - indexer.window.filled),
        .consumed_address => address(indexer.window.bytes.ptr),
        .consumed_bytes => number(indexer.window.consumed),
        .done => number(@intFromBool(indexer.phase == .done)),
        .declared => number(indexer.declared),
        .pack_count => number(indexer.entries.pack_count),
        .entry_count => number(indexer.entries.count()),
        .entries_end => number(indexer.entries_end),
        .is_paused => number(@intFromBool(indexer.is_paused)),
        .deferred_count => number(indexer.late.left()),
        .node_count => number(indexer.nodes.count()),
        .reference_count => number(indexer.edges.named),
        .needed_entry => number(indexer.needed_entry),
        .needed_offset => number(indexer.needed_offset),
        .needed_length => number(indexer.needed_length),
        .needed_delta => number(indexer.late.present),
        .needed_base => number(indexer.needed_base),
        .needed_content => if (indexer.needed_content) |content| address(content.ptr) else 0,
        .failure_code => number(@intFromEnum(indexer.failure.code)),
        .failure_detail => number(indexer.failure.detail),
        .failure_oid => if (indexer.failure.has_oid == 1) address(&indexer.failure.oid) else 0,
        .failure_offset => number(indexer.failure.offset),
        .failure_value => number(indexer.failure.value),
        .table_bytes_left => number(indexer.tables.left),
        .pointer_count => number(indexer.pointers.items.len),
        .pointers => address(indexer.pointers.items.ptr),
        .run_count => number(indexer.edges.runs.count),
        .wide_count => number(indexer.entries.wide.items.len),
        .wide => address(indexer.entries.wide.items.ptr),
    };
}

fn number(integer: anytype) f64 {
    return @floatFromInt(integer);
}

fn address(pointer: anytype) f64 {
    return @floatFromInt(@intFromPtr(pointer));
}
