//! The pack's entries in pack order, as parallel arrays: an entry's index is its place in the pack.
//! Bases that are not in the pack (thin packs) are appended as external entries, so that a delta's
//! base is always an entry.

const std = @import("std");
const Allocator = std.mem.Allocator;

/// Object types by their number in a pack, gitformat-pack(5); `none` while a delta is unresolved.
pub const Kind = enum(u8) { none = 0, commit = 1, tree = 2, blob = 3, tag = 4 };

/// `made`: pushed as a delta, and stored undeltified by the caller, since it or its base is too
/// large for memory.
pub const Stored = enum(u8) { plain, ofs_delta, ref_delta, external, made };

/// In place of an unresolved delta's size: its instructions are too large for memory.
pub const large_delta = 1;

/// The offset of an external entry, which sorts behind the pack's own.
pub const no_offset: f64 = max_exact;

/// Offsets and sizes beyond this are not exact in a column, nor in JavaScript.
const max_exact = (1 << 53) - 1;

pub const no_index: u32 = std.math.maxInt(u32);

pub const Entry = struct {
    /// Offset of the entry in the pack, an integer up to 2^53: JavaScript reads the column where it
    /// is, and has no view of 64-bit integers that are numbers.
    offset: f64,
    /// Inflated size of the object, likewise; for an unresolved delta, 0 or `large_delta`.
    size: f64,
    /// ofs_delta: base entry. ref_delta: base node until the base is resolved, then base entry.
    base: u32,
    /// The object's node; `no_index` until it is hashed. An external entry has it from the start.
    node: u32,
    /// Position in the content ring plus one, in units of `Ring.unit`; 0: never cached.
    cached_at: u32,
    /// Address of the edge record in words; 0: none (yet).
    edges: u32,
    /// Length of the object's delta chain; known once it is resolved.
    depth: u16,
    kind: Kind,
    stored: Stored,
};

/// The value of a column for an offset or a size.
pub fn exact(value: u64) f64 {
    std.debug.assert(value <= max_exact);
    return @floatFromInt(value);
}

/// New capacity of a table that is full with `count` rows. It grows in proportion to what has
/// arrived, never by a claim alone. Only the last step jumps to the claimed size, since outgrown
/// memory is lost until the pack ends.
pub fn grownTo(count: usize, claimed: usize) usize {
    const grown = @max(1024, count *| 4);
    return if (claimed > count and grown *| 2 >= claimed) claimed else grown;
}

pub const Entries = struct {
    list: std.MultiArrayList(Entry) = .empty,
    /// Entries of the pack itself; the ones after them are external.
    pack_count: u32 = 0,

    /// Grows in proportion to what has arrived, never by the header's claim alone.
    pub fn append(self: *Entries, allocator: Allocator, claimed: u32, entry: Entry) !u32 {
        const index: u32 = @intCast(self.list.len);
        if (index == self.list.capacity) {
            const wanted = if (index < claimed) grownTo(index, claimed) else index + @max(64, index / 8);
            try self.list.setCapacity(allocator, wanted);
        }
        self.list.appendAssumeCapacity(entry);
        return index;
    }

    pub fn count(self: *const Entries) u32 {
        return @intCast(self.list.len);
    }

    /// Offset of an entry of the pack.
    pub fn offset(self: *const Entries, entry: u32) u64 {
        return @intFromFloat(self.list.items(.offset)[entry]);
    }

    /// Inflated size of an entry's object.
    pub fn size(self: *const Entries, entry: u32) u64 {
        return @intFromFloat(self.list.items(.size)[entry]);
    }

    /// Sets the size of an entry's object.
    pub fn setSize(self: *const Entries, entry: u32, bytes: u64) void {
        self.list.items(.size)[entry] = exact(bytes);
    }

    /// Inflated size of an object that is in memory, or is to be: callers have held it against a
    /// limit of what memory takes.
    pub fn heldSize(self: *const Entries, entry: u32) usize {
        return @intCast(self.size(entry));
    }

    /// The entry that begins exactly at `wanted`, among the first `before`.
    pub fn at(self: *const Entries, wanted: u64, before: u32) ?u32 {
        const target = exact(wanted);
        const all = self.list.items(.offset)[0..before];
        var low: usize = 0;
        var high: usize = all.len;
        while (low < high) {
            const mid = low + (high - low) / 2;
            if (all[mid] < target) low = mid + 1 else high = mid;
        }
        return if (low < all.len and all[low] == target) @intCast(low) else null;
    }
};
