//! The pack's entries in pack order: an entry's index is its place in the pack. Bases that are not
//! in the pack (thin packs) are appended as external entries, so that a delta's base is always an
//! entry.

const std = @import("std");
const pages = @import("pages.zig");
const Home = pages.Home;

/// Object types by their number in a pack, gitformat-pack(5); `none` while a delta is unresolved.
pub const Kind = enum(u4) { none = 0, commit = 1, tree = 2, blob = 3, tag = 4 };

/// `made`: pushed as a delta, and stored undeltified by the caller, since it or its base is too
/// large for memory.
pub const Stored = enum(u4) { plain, ofs_delta, ref_delta, external, made };

/// In place of an unresolved delta's size: its instructions are too large for memory.
pub const large_delta = 1;

pub const no_index: u32 = std.math.maxInt(u32);

/// In place of a node: the entry is not hashed yet.
const no_node = std.math.maxInt(u24);

/// In place of a size of 4 GiB and more, which is in `Entries.wide`.
const wide_size = std.math.maxInt(u32);

/// The offset of an external entry, which sorts behind the pack's own.
pub const no_offset: u64 = (1 << 48) - 1;

/// JavaScript reads rows where they are: pack-pages.ts.
pub const Entry = extern struct {
    /// Offset of the entry in the pack: 48 bits.
    offset_low: u32,
    offset_high: u16,
    /// Length of the object's delta chain; known once it is resolved.
    depth: u16 = 0,
    /// Inflated size of the object; for an unresolved delta, 0 or `large_delta`.
    size: u32,
    /// ofs_delta: base entry. ref_delta: base node until the base is resolved, then base entry.
    base: u32 = no_index,
    is: packed struct(u32) {
        /// The object's node. An external entry has it from the start.
        node: u24 = no_node,
        kind: Kind,
        stored: Stored,
    },
    /// Address of the references in `edges`; 0: none (yet).
    edges: u32 = 0,
    /// Position in the content ring plus one, in units of `Ring.unit`; 0: never cached. Of an
    /// unresolved delta the next one in its list: see late.zig. Once all is resolved, JavaScript's.
    link: u32 = 0,
    /// The first delta that waits for this entry; `no_index`: none. Once all is resolved,
    /// JavaScript's.
    child: u32 = no_index,
};

pub const NewEntry = struct { offset: u64, size: u64, base: u32 = no_index, node: u32 = no_index, kind: Kind, stored: Stored };

/// JavaScript reads them, too.
const Wide = extern struct { entry: u32, size: u64 };

pub const Entries = struct {
    table: pages.Table(Entry) = .{ .space = .{ .number = 1 } },
    home: Home = undefined,
    /// Sizes of 4 GiB and more. The work of a push allows few.
    wide: std.ArrayList(Wide) = .empty,
    /// Entries of the pack itself; the ones after them are external.
    pack_count: u32 = 0,

    pub fn append(self: *Entries, new: NewEntry) !u32 {
        const entry = try self.table.append(self.home, .{
            .offset_low = @truncate(new.offset),
            .offset_high = @intCast(new.offset >> 32),
            .size = 0,
            .base = new.base,
            .is = .{ .kind = new.kind, .stored = new.stored },
        });
        if (new.node != no_index) self.setNode(entry, new.node);
        try self.setSize(entry, new.size);
        return entry;
    }

    pub fn count(self: *const Entries) u32 {
        return self.table.count;
    }

    inline fn get(self: *Entries, entry: u32) *const Entry {
        return self.table.row(self.home, entry);
    }

    inline fn change(self: *Entries, entry: u32) *Entry {
        return self.table.change(self.home, entry);
    }

    pub fn kind(self: *Entries, entry: u32) Kind {
        return self.get(entry).is.kind;
    }

    pub fn setKind(self: *Entries, entry: u32, value: Kind) void {
        self.change(entry).is.kind = value;
    }

    pub fn stored(self: *Entries, entry: u32) Stored {
        return self.get(entry).is.stored;
    }

    pub fn setStored(self: *Entries, entry: u32, value: Stored) void {
        self.change(entry).is.stored = value;
    }

    pub fn node(self: *Entries, entry: u32) u32 {
        const of = self.get(entry).is.node;
        return if (of == no_node) no_index else of;
    }

    pub fn setNode(self: *Entries, entry: u32, value: u32) void {
        self.change(entry).is.node = @intCast(value);
    }

    pub fn base(self: *Entries, entry: u32) u32 {
        return self.get(entry).base;
    }

    pub fn setBase(self: *Entries, entry: u32, value: u32) void {
        self.change(entry).base = value;
    }

    pub fn depth(self: *Entries, entry: u32) u16 {
        return self.get(entry).depth;
    }

    pub fn setDepth(self: *Entries, entry: u32, value: u16) void {
        self.change(entry).depth = value;
    }

    pub fn setEdges(self: *Entries, entry: u32, address: u32) void {
        self.change(entry).edges = address;
    }

    pub fn link(self: *Entries, entry: u32) u32 {
        return self.get(entry).link;
    }

    pub fn setLink(self: *Entries, entry: u32, value: u32) void {
        self.change(entry).link = value;
    }

    /// Where the content of an entry is in the ring.
    pub fn cachedAt(self: *Entries, entry: u32) u32 {
        return self.get(entry).link;
    }

    pub fn setCachedAt(self: *Entries, entry: u32, at_unit: u32) void {
        self.change(entry).link = at_unit;
    }

    /// Adds a delta to those that wait for an entry.
    pub fn addChild(self: *Entries, entry: u32, delta: u32) void {
        const next = self.get(entry).child;
        self.change(entry).child = delta;
        self.change(delta).link = next;
    }

    /// Takes all deltas that wait for an entry, as a list.
    pub fn takeChildren(self: *Entries, entry: u32) u32 {
        const first = self.get(entry).child;
        if (first != no_index) self.change(entry).child = no_index;
        return first;
    }

    /// Offset of an entry of the pack.
    pub fn offset(self: *Entries, entry: u32) u64 {
        const of = self.get(entry);
        return @as(u64, of.offset_high) << 32 | of.offset_low;
    }

    /// Inflated size of an entry's object.
    pub fn size(self: *Entries, entry: u32) u64 {
        const narrow = self.get(entry).size;
        if (narrow != wide_size) return narrow;
        var i = self.wide.items.len;
        while (i > 0) {
            i -= 1;
            if (self.wide.items[i].entry == entry) return self.wide.items[i].size;
        }
        unreachable;
    }

    /// Sets the size of an entry's object.
    pub fn setSize(self: *Entries, entry: u32, bytes: u64) !void {
        if (bytes >= wide_size) try self.wide.append(self.home.tables.allocator(), .{ .entry = entry, .size = bytes });
        self.change(entry).size = @intCast(@min(bytes, wide_size));
    }

    /// Inflated size of an object that is in memory, or is to be: callers have held it against a
    /// limit of what memory takes.
    pub fn heldSize(self: *Entries, entry: u32) usize {
        return @intCast(self.size(entry));
    }

    /// The entry that begins exactly at `wanted`, among the first `before`. Bases are near: it
    /// looks back in ever longer steps.
    pub fn at(self: *Entries, wanted: u64, before: u32) ?u32 {
        // Offsets from `high` on are above `wanted`, that at `low` is not.
        var high = before;
        var step: u32 = 1;
        while (high > 0 and self.offset(high -| step) > wanted) : (step *|= 2) high -|= step;
        if (high == 0) return null;
        var low = high -| step;
        while (high - low > 1) {
            const mid = low + (high - low) / 2;
            if (self.offset(mid) <= wanted) low = mid else high = mid;
        }
        return if (self.offset(low) == wanted) low else null;
    }
};
