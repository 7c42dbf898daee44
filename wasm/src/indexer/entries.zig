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
pub const large_delta: u32 = 1;

pub const no_index: u32 = std.math.maxInt(u32);

pub const Entry = struct {
    /// Offset of the entry in the pack.
    offset: u32,
    /// Inflated size of the object; for an unresolved delta, 0 or `large_delta`.
    size: u32,
    /// ofs_delta: base entry. ref_delta: base node until the base is resolved, then base entry.
    base: u32,
    /// The object's node; `no_index` until it is hashed. An external entry has it from the start.
    node: u32,
    /// Position in the content ring plus one, in units of `Ring.unit`; 0: never cached.
    cached_at: u32,
    /// Length of the object's delta chain; known once it is resolved.
    depth: u32,
    /// Address of the edge record in words; 0: none (yet).
    edges: u32,
    kind: Kind,
    stored: Stored,
};

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

    pub fn offsets(self: *const Entries) []u32 {
        return self.list.items(.offset);
    }

    /// The entry that begins exactly at `offset`, among the first `before`.
    pub fn at(self: *const Entries, offset: u32, before: u32) ?u32 {
        const all = self.offsets()[0..before];
        var low: usize = 0;
        var high: usize = all.len;
        while (low < high) {
            const mid = low + (high - low) / 2;
            if (all[mid] < offset) low = mid + 1 else high = mid;
        }
        return if (low < all.len and all[low] == offset) @intCast(low) else null;
    }
};
