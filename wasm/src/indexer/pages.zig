//! Tables of any length in little memory: rows are in pages, and pages that memory does not take
//! are with the caller until they are needed again. What is used stays: the clock algorithm.
//!
//! A pointer to a row is valid until the next access to any table.

const std = @import("std");
const Budget = @import("../budget.zig").Budget;

pub const page_bytes = 8 << 10;

/// Fewest pages in memory, however little the tables may take.
const min_frames = 16;

/// Keeps a page for the module. `key`: its table's number in the upper 8 bits.
extern "holdfast" fn page_out(key: u32, page: [*]const u8) void;
/// Copies a kept page back.
extern "holdfast" fn page_in(key: u32, page: [*]u8) void;

/// Flags of a page; JavaScript sets them, too.
const used: u8 = 1;
const changed: u8 = 2;

const Frame = struct { space: *Space, page: u32, bytes: [*]u8 };

pub const Pager = struct {
    frames: std.ArrayList(Frame) = .empty,
    hand: usize = 0,
    /// Most pages in memory; other tables need the rest.
    max_frames: usize = std.math.maxInt(usize),
    /// Pages that were read back or put out so far.
    moved: u64 = 0,

    /// A frame for a page of a space.
    fn take(pager: *Pager, tables: *Budget, space: *Space, page: u32) error{OutOfMemory}!usize {
        const bytes = if (pager.mayGrow(tables)) try tables.allocator().alloc(u8, page_bytes) else {
            const victim = pager.evict();
            pager.frames.items[victim].space = space;
            pager.frames.items[victim].page = page;
            return @intFromPtr(pager.frames.items[victim].bytes);
        };
        errdefer tables.allocator().free(bytes);
        try pager.frames.append(tables.allocator(), .{ .space = space, .page = page, .bytes = bytes.ptr });
        return @intFromPtr(bytes.ptr);
    }

    fn mayGrow(pager: *const Pager, tables: *const Budget) bool {
        const list_bytes = pager.frames.capacity * 2 * @sizeOf(Frame);
        const count = pager.frames.items.len;
        return count < min_frames or (count < pager.max_frames and tables.left >= page_bytes + list_bytes);
    }

    /// Puts a page out that was not used of late. Returns its frame.
    fn evict(pager: *Pager) usize {
        const frames = pager.frames.items;
        while (true) {
            pager.hand = if (pager.hand + 1 < frames.len) pager.hand + 1 else 0;
            const frame = frames[pager.hand];
            const flags = &frame.space.flags.items[frame.page];
            if (flags.* & used != 0) {
                flags.* &= ~used;
                continue;
            }
            if (flags.* & changed != 0) {
                page_out(frame.space.keyOf(frame.page), frame.bytes);
                pager.moved += 1;
            }
            flags.* = 0;
            frame.space.addresses.items[frame.page] = 0;
            return pager.hand;
        }
    }

    /// Gives memory back to the tables, so that `bytes` can be allocated.
    pub fn giveBack(pager: *Pager, tables: *Budget, bytes: usize) void {
        while (tables.left < bytes and pager.frames.items.len > min_frames) {
            const victim = pager.evict();
            const frame = pager.frames.swapRemove(victim);
            const page: []u8 = frame.bytes[0..page_bytes];
            tables.allocator().free(page);
        }
    }
};

/// The pages of one table.
pub const Space = struct {
    number: u8,
    /// Of each page in memory; 0: it is out.
    addresses: std.ArrayList(u32) = .empty,
    flags: std.ArrayList(u8) = .empty,

    fn keyOf(space: *const Space, page: u32) u32 {
        return @as(u32, space.number) << 24 | page;
    }

    /// The page's bytes.
    pub inline fn read(space: *Space, home: Home, page: u32) [*]u8 {
        const address = space.addresses.items[page];
        if (address == 0) return space.fetch(home, page);
        space.flags.items[page] |= used;
        return @ptrFromInt(address);
    }

    /// The page's bytes, which the caller changes.
    pub inline fn write(space: *Space, home: Home, page: u32) [*]u8 {
        const bytes = space.read(home, page);
        space.flags.items[page] |= changed;
        return bytes;
    }

    fn fetch(space: *Space, home: Home, page: u32) [*]u8 {
        // There are frames, since there are pages.
        const address = home.pager.take(home.tables, space, page) catch unreachable;
        const bytes: [*]u8 = @ptrFromInt(address);
        page_in(space.keyOf(page), bytes);
        home.pager.moved += 1;
        space.addresses.items[page] = @intCast(address);
        space.flags.items[page] = used;
        return bytes;
    }

    /// Adds a page of zeros.
    pub fn grow(space: *Space, home: Home) error{OutOfMemory}!void {
        const page: u32 = @intCast(space.addresses.items.len);
        if (page >> 24 != 0) return error.OutOfMemory;
        const allocator = home.tables.allocator();
        try space.addresses.ensureUnusedCapacity(allocator, 1);
        try space.flags.ensureUnusedCapacity(allocator, 1);
        const address = try home.pager.take(home.tables, space, page);
        const bytes: [*]u8 = @ptrFromInt(address);
        @memset(bytes[0..page_bytes], 0);
        space.addresses.appendAssumeCapacity(@intCast(address));
        space.flags.appendAssumeCapacity(used | changed);
    }
};

/// Where the pages of all tables are.
pub const Home = struct { pager: *Pager, tables: *Budget };

/// Rows of one type.
pub fn Table(comptime Row: type) type {
    return struct {
        const Self = @This();
        pub const rows_per_page = page_bytes / @sizeOf(Row);

        space: Space,
        count: u32 = 0,

        pub fn append(table: *Self, home: Home, new: Row) error{OutOfMemory}!u32 {
            const index = table.count;
            if (index == table.space.addresses.items.len * rows_per_page) try table.space.grow(home);
            table.count += 1;
            table.change(home, index).* = new;
            return index;
        }

        /// A row to read.
        pub inline fn row(table: *Self, home: Home, index: u32) *const Row {
            std.debug.assert(index < table.count);
            const rows: [*]Row = @ptrCast(@alignCast(table.space.read(home, index / rows_per_page)));
            return &rows[index % rows_per_page];
        }

        /// A row to change.
        pub inline fn change(table: *Self, home: Home, index: u32) *Row {
            std.debug.assert(index < table.count);
            const rows: [*]Row = @ptrCast(@alignCast(table.space.write(home, index / rows_per_page)));
            return &rows[index % rows_per_page];
        }
    };
}
