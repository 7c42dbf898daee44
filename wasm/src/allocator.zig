//! The module's heap: all linear memory after the stack and the static data. Nothing else grows the
//! memory.
//!
//! It is an arena for callers that take a mark and release it (JavaScript: `alloc`, `mark`,
//! `release`), and an `Allocator` with a free list for the indexer, whose few large buffers grow
//! and are freed. First fit with coalescing suits that: sizes are not rounded up to powers of two,
//! which would cost an isolate tens of megabytes.

const std = @import("std");
const Alignment = std.mem.Alignment;

const granule = 16;
const page_bytes = std.wasm.page_size;
/// Fewest pages by which the memory grows, so that not every small request grows it.
const growth_pages = 16;

extern var __heap_base: u8;

/// End of the memory in use.
var top: usize = 0;
var free_list: ?*Range = null;

/// A free range below `top`; this header is in its first bytes. The list is sorted by address, and
/// no two ranges touch.
const Range = struct {
    next: ?*Range,
    size: usize,

    fn start(self: *Range) usize {
        return @intFromPtr(self);
    }

    fn end(self: *Range) usize {
        return self.start() + self.size;
    }
};

pub const allocator: std.mem.Allocator = .{ .ptr = undefined, .vtable = &.{
    .alloc = allocate,
    .resize = resize,
    .remap = remap,
    .free = free,
} };

/// Allocates `size` bytes at the end of the heap, aligned to 16; null when the memory cannot grow.
pub fn take(size: usize) ?[*]u8 {
    const start = mark();
    return if (extendTo(start + rounded(size))) @ptrFromInt(start) else null;
}

/// The end of the heap, for `release`.
pub fn mark() usize {
    if (top == 0) top = rounded(@intFromPtr(&__heap_base));
    return top;
}

/// Frees everything that was allocated since `mark` returned `at`.
pub fn release(at: usize) void {
    std.debug.assert(at <= top);
    top = at;
    var link = &free_list;
    while (link.*) |range| : (link = &range.next) {
        if (range.start() >= at) {
            link.* = null;
            return;
        }
        if (range.end() > at) range.size = at - range.start();
    }
}

fn rounded(size: usize) usize {
    return std.mem.alignForward(usize, @max(size, 1), granule);
}

fn extendTo(end: usize) bool {
    const available = @wasmMemorySize(0) * page_bytes;
    if (end > available) {
        const missing = (end - available + page_bytes - 1) / page_bytes;
        if (@wasmMemoryGrow(0, @max(missing, growth_pages)) < 0 and @wasmMemoryGrow(0, missing) < 0) return false;
    }
    top = end;
    return true;
}

fn allocate(_: *anyopaque, len: usize, alignment: Alignment, _: usize) ?[*]u8 {
    std.debug.assert(alignment.toByteUnits() <= granule);
    const size = rounded(len);
    var link = &free_list;
    while (link.*) |range| : (link = &range.next) {
        if (range.size < size) continue;
        const start = range.start();
        cut(link, start + size);
        return @ptrFromInt(start);
    }
    return take(size);
}

/// Shortens the range at `link` to its part from `start` on.
fn cut(link: *?*Range, start: usize) void {
    const range = link.*.?;
    const rest: Range = .{ .next = range.next, .size = range.end() - start };
    if (rest.size == 0) {
        link.* = rest.next;
        return;
    }
    const shortened: *Range = @ptrFromInt(start);
    shortened.* = rest;
    link.* = shortened;
}

fn resize(_: *anyopaque, memory: []u8, _: Alignment, new_len: usize, _: usize) bool {
    const start = @intFromPtr(memory.ptr);
    const end = start + rounded(memory.len);
    const new_end = start + rounded(new_len);
    if (new_end < end) giveBack(new_end, end);
    if (new_end <= end) return true;
    if (end == top) return extendTo(new_end);
    var link = &free_list;
    while (link.*) |range| : (link = &range.next) {
        if (range.start() != end) continue;
        if (range.end() < new_end) return false;
        cut(link, new_end);
        return true;
    }
    return false;
}

fn remap(context: *anyopaque, memory: []u8, alignment: Alignment, new_len: usize, address: usize) ?[*]u8 {
    return if (resize(context, memory, alignment, new_len, address)) memory.ptr else null;
}

fn free(_: *anyopaque, memory: []u8, _: Alignment, _: usize) void {
    const start = @intFromPtr(memory.ptr);
    giveBack(start, start + rounded(memory.len));
}

fn giveBack(start: usize, end: usize) void {
    var before: ?*Range = null;
    var link = &free_list;
    while (link.*) |range| : (link = &range.next) {
        if (range.start() > start) break;
        before = range;
    }
    const after = link.*;
    var range: *Range = @ptrFromInt(start);
    if (before != null and before.?.end() == start) {
        range = before.?;
        range.size += end - start;
    } else {
        range.* = .{ .next = after, .size = end - start };
        link.* = range;
    }
    if (after) |next| if (range.end() == next.start()) {
        range.size += next.size;
        range.next = next.next;
    };
    if (range.end() == top) {
        // The last of the list, since it ends at `top`.
        top = range.start();
        dropLast(range);
    }
}

fn dropLast(last: *Range) void {
    var link = &free_list;
    while (link.*.? != last) link = &link.*.?.next;
    link.* = null;
}
