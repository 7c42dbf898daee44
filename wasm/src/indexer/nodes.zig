//! Every object id that the pack contains or mentions, once: a node. Edges are node numbers, so
//! that the connectivity check and the reachability of commits never compare ids again.

const std = @import("std");
const Allocator = std.mem.Allocator;
const entry_table = @import("entries.zig");
const no_index = entry_table.no_index;

pub const oid_bytes = 20;
pub const Oid = [oid_bytes]u8;

/// The types and roles of a node.
pub const Flags = packed struct(u8) {
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
    _: u1 = 0,

    pub const special_mask: u8 = 0b0011_0000;
    pub const type_mask: u8 = 0b0000_1111;
};

pub const Nodes = struct {
    oids: std.ArrayList(Oid) = .empty,
    /// The first resolved entry of the object; `no_index`: the pack does not contain it.
    entries: std.ArrayList(u32) = .empty,
    flags: std.ArrayList(u8) = .empty,
    /// Open addressing: node + 1; 0: free.
    slots: []u32 = &.{},
    /// Objects that the pack claims to contain.
    expected: u32 = 0,

    pub fn count(self: *const Nodes) u32 {
        return @intCast(self.oids.items.len);
    }

    pub fn find(self: *const Nodes, oid: *const Oid) ?u32 {
        if (self.slots.len == 0) return null;
        const slot = self.slotOf(oid);
        return if (self.slots[slot] == 0) null else self.slots[slot] - 1;
    }

    pub fn intern(self: *Nodes, allocator: Allocator, oid: *const Oid) !u32 {
        if (self.count() * 3 >= self.slots.len * 2) try self.grow(allocator);
        const slot = self.slotOf(oid);
        if (self.slots[slot] != 0) return self.slots[slot] - 1;
        const node = self.count();
        if (node == self.oids.capacity) try self.reserve(allocator);
        self.oids.appendAssumeCapacity(oid.*);
        self.entries.appendAssumeCapacity(no_index);
        self.flags.appendAssumeCapacity(0);
        self.slots[slot] = node + 1;
        return node;
    }

    /// The slot of `oid`, or the free one where it belongs. Ids are hashes already, so their first
    /// bytes are well distributed; an attacker who searches for 32-bit prefixes gains a few longer
    /// probes per 2^32 tries.
    fn slotOf(self: *const Nodes, oid: *const Oid) usize {
        const mask = self.slots.len - 1;
        var slot: usize = std.mem.readInt(u32, oid[0..4], .little) & mask;
        while (self.slots[slot] != 0) : (slot = (slot + 1) & mask) {
            if (std.mem.eql(u8, &self.oids.items[self.slots[slot] - 1], oid)) break;
        }
        return slot;
    }

    /// Reserves memory for more nodes. Beyond the pack's objects there are only mentioned ones: it
    /// grows by an eighth at a time.
    fn reserve(self: *Nodes, allocator: Allocator) !void {
        const at = self.count();
        const capacity = if (at < self.expected) entry_table.grownTo(at, self.expected) else at + @max(1024, at / 8);
        try self.oids.ensureTotalCapacityPrecise(allocator, capacity);
        try self.entries.ensureTotalCapacityPrecise(allocator, capacity);
        try self.flags.ensureTotalCapacityPrecise(allocator, capacity);
    }

    fn grow(self: *Nodes, allocator: Allocator) !void {
        const old = self.slots;
        self.slots = try allocator.alloc(u32, @max(1024, old.len * 2));
        @memset(self.slots, 0);
        for (self.oids.items, 0..) |*oid, node| self.slots[self.slotOf(oid)] = @intCast(node + 1);
        allocator.free(old);
    }
};
