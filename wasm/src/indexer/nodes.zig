//! Every object id that the pack contains or mentions, once: a node. Edges are node numbers, so
//! that the connectivity check and the reachability of commits never compare ids again.

const std = @import("std");
const pages = @import("pages.zig");
const entry_table = @import("entries.zig");
const Home = pages.Home;
const no_index = entry_table.no_index;

pub const oid_bytes = 20;
pub const Oid = [oid_bytes]u8;

/// The types and roles of a node.
pub const Flags = packed struct(u7) {
    /// Types that references to it expect.
    commit: bool = false,
    tree: bool = false,
    blob: bool = false,
    tag: bool = false,
    /// A tree names it `.gitmodules` / `.gitattributes`, so its content is checked.
    gitmodules: bool = false,
    gitattributes: bool = false,
    /// That check is done.
    checked: bool = false,

    pub const special_mask: u7 = 0b011_0000;
    pub const type_mask: u7 = 0b000_1111;
};

const no_entry = std.math.maxInt(u25);

/// JavaScript reads rows where they are: pack-pages.ts.
pub const Node = extern struct {
    oid: Oid align(4),
    has: packed struct(u32) {
        /// The first resolved entry of the object; `no_entry`: the pack does not contain it.
        entry: u25 = no_entry,
        flags: u7 = 0,
    },
    /// The first delta that waits for the object; `no_index`: none. Once all is resolved,
    /// JavaScript's.
    child: u32 = no_index,
};

/// The most nodes that there can be: a slot holds a node's number and 8 bits of its id.
const max_nodes = (1 << 24) - 2;

/// Bytes of the slots for so many objects.
pub fn slotBytes(objects: usize) usize {
    return slotsFor(objects) * @sizeOf(u32);
}

fn slotsFor(objects: usize) usize {
    return objects + objects / 3 + 2;
}

pub const Nodes = struct {
    table: pages.Table(Node) = .{ .space = .{ .number = 2 } },
    home: Home = undefined,
    /// Open addressing: node + 1, and the fifth byte of its id above; 0: free.
    slots: []u32 = &.{},
    /// Objects that the pack claims to contain.
    expected: u32 = 0,

    pub fn count(self: *const Nodes) u32 {
        return self.table.count;
    }

    pub fn intern(self: *Nodes, oid: *const Oid) !u32 {
        // Three of four slots are taken at most.
        if (@as(u64, self.count() + 1) * 4 > @as(u64, self.slots.len) * 3) try self.grow();
        const slot = self.slotOf(oid);
        if (self.slots[slot] != 0) return (self.slots[slot] & max_slot) - 1;
        if (self.count() == max_nodes) return error.OutOfMemory;
        // The id may be in a page that is put out for a new one.
        const copy = oid.*;
        const node = try self.table.append(self.home, .{ .oid = copy, .has = .{} });
        self.slots[slot] = (node + 1) | @as(u32, copy[4]) << 24;
        return node;
    }

    const max_slot = (1 << 24) - 1;

    /// The slot of `oid`, or the free one where it belongs. Ids are hashes already, so their first
    /// bytes are well distributed; an attacker who searches for 32-bit prefixes gains a few longer
    /// probes per 2^32 tries.
    fn slotOf(self: *Nodes, oid: *const Oid) usize {
        var slot = self.firstSlot(oid);
        while (self.slots[slot] != 0) : (slot = if (slot + 1 < self.slots.len) slot + 1 else 0) {
            const at = self.slots[slot];
            if (at >> 24 != oid[4]) continue;
            if (std.mem.eql(u8, &self.table.row(self.home, (at & max_slot) - 1).oid, oid)) break;
        }
        return slot;
    }

    fn firstSlot(self: *const Nodes, oid: *const Oid) usize {
        const prefix: u64 = std.mem.readInt(u32, oid[0..4], .big);
        return @intCast(prefix * self.slots.len >> 32);
    }

    /// Grows in proportion to what has come, never by the header's claim alone. Only the last step
    /// jumps to the claimed size. Beyond the pack's objects there are only mentioned ones: a
    /// quarter more.
    fn grow(self: *Nodes) !void {
        const at: usize = self.count();
        const allocator = self.home.tables.allocator();
        const claimed: usize = self.expected;
        const quadrupled = @max(768, at * 4);
        const capacity = if (at >= claimed) @max(768, at + at / 4) else if (quadrupled * 2 >= claimed) @max(768, claimed) else quadrupled;
        // It is filled from the nodes, so the old one goes first.
        allocator.free(self.slots);
        self.slots = &.{};
        const slots = try allocator.alloc(u32, slotsFor(capacity));
        @memset(slots, 0);
        self.slots = slots;
        var node: u32 = 0;
        while (node < at) : (node += 1) {
            const oid = &self.table.row(self.home, node).oid;
            var slot = self.firstSlot(oid);
            while (slots[slot] != 0) slot = if (slot + 1 < slots.len) slot + 1 else 0;
            slots[slot] = (node + 1) | @as(u32, oid[4]) << 24;
        }
    }

    /// Ends the search by id, whose memory is free from now on.
    pub fn seal(self: *Nodes) void {
        self.home.tables.allocator().free(self.slots);
        self.slots = &.{};
    }

    /// A node's id: a copy.
    pub fn oidOf(self: *Nodes, node: u32) Oid {
        return self.table.row(self.home, node).oid;
    }

    pub fn entry(self: *Nodes, node: u32) u32 {
        const of = self.table.row(self.home, node).has.entry;
        return if (of == no_entry) no_index else of;
    }

    pub fn setEntry(self: *Nodes, node: u32, value: u32) void {
        self.table.change(self.home, node).has.entry = if (value == no_index) no_entry else @intCast(value);
    }

    pub fn flags(self: *Nodes, node: u32) Flags {
        return @bitCast(self.table.row(self.home, node).has.flags);
    }

    /// Adds flags.
    pub fn mark(self: *Nodes, node: u32, more: Flags) void {
        const bits: u7 = @bitCast(more);
        // Most mentions add nothing, and a page that is not changed is not put out.
        if (self.table.row(self.home, node).has.flags & bits == bits) return;
        self.table.change(self.home, node).has.flags |= bits;
    }

    /// The first delta that waits for the object.
    pub fn child(self: *Nodes, node: u32) u32 {
        return self.table.row(self.home, node).child;
    }

    pub fn setChild(self: *Nodes, node: u32, delta: u32) void {
        self.table.change(self.home, node).child = delta;
    }
};
