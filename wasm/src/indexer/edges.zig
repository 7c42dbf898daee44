//! The references of objects, in a log of varints (LEB128). A list is its head, the number of its
//! words times four plus its level; for a commit its time; then its words: the first as it is, each
//! other one as the difference from the one before, zigzag. At level 0 words are nodes: a commit's
//! tree before its parents, a tree's entries in order. At a higher level they are runs, each a list
//! of the level below.
//!
//! The versions of a large directory repeat nearly the same thousands of references, perhaps a
//! thousand times. So a longer list of a tree is cut into runs at places that depend on the
//! contents (at certain words, wherever they are), and equal runs are stored once. So is the list
//! of runs itself.

const std = @import("std");
const pages = @import("pages.zig");
const Home = pages.Home;

/// Longer lists are cut into runs, up to the highest level.
const whole_words = 16;
const max_level = 3;
/// On average one of eight words ends a run, within the limits of its length.
const boundary_shift = 32 - 3;
const min_run = 4;
const max_run = 64;

/// Slots searched for an equal run: a push could be crafted to put many in one place.
const max_probes = 4;
/// More runs than that make room for newer ones: an equal run is stored again.
const max_slots = 1 << 18;

pub const Run = extern struct {
    /// In the log.
    address: u32,
    /// JavaScript's; 0 at first.
    memo: u32 = 0,
};

const Slot = struct { hash: u32, run: u32 };
const free_slot = std.math.maxInt(u32);

pub const Edges = struct {
    home: Home = undefined,
    log: pages.Space = .{ .number = 3 },
    /// End of the log, bytes. Address 0 is not used.
    log_end: u64 = 1,
    runs: pages.Table(Run) = .{ .space = .{ .number = 4 } },
    /// The words of the record being built.
    open: std.ArrayList(u32) = .empty,
    time: u64 = 0,
    /// Runs by their contents.
    slots: []Slot = &.{},
    run_count: usize = 0,
    /// Number of references so far.
    named: u64 = 0,

    /// Begins a record; an unfinished one is dropped.
    pub fn begin(self: *Edges) void {
        self.open.clearRetainingCapacity();
        self.time = 0;
    }

    pub fn add(self: *Edges, node: u32) !void {
        try self.open.append(self.home.tables.allocator(), node);
    }

    /// Ends the record and returns its address.
    pub fn end(self: *Edges, what: enum { commit, tree, other }) !u32 {
        var words = self.open.items;
        self.named += words.len;
        var level: u2 = 0;
        while (what == .tree and words.len > whole_words and level < max_level) : (level += 1) words = try self.cut(words, level);
        return self.put(words, level, if (what == .commit) self.time else null);
    }

    /// Cuts a list into runs, whose numbers overwrite words that have been read already.
    fn cut(self: *Edges, words: []u32, level: u2) ![]u32 {
        var count: usize = 0;
        var start: usize = 0;
        for (words, 1..) |word, next| {
            const length = next - start;
            const is_end = next == words.len or length == max_run or (length >= min_run and isBoundary(word));
            if (!is_end) continue;
            words[count] = try self.internRun(words[start..next], level);
            count += 1;
            start = next;
        }
        return words[0..count];
    }

    fn internRun(self: *Edges, words: []const u32, level: u2) !u32 {
        if (self.run_count * 2 >= self.slots.len and self.slots.len < max_slots) try self.growSlots();
        const mask = self.slots.len - 1;
        const sum = hash(words, level);
        const first = sum & mask;
        var place = first;
        for (0..max_probes) |i| {
            const slot = self.slots[(first + i) & mask];
            if (slot.run == free_slot) {
                place = (first + i) & mask;
                self.run_count += 1;
                break;
            }
            if (slot.hash == sum and self.equals(slot.run, words, level)) return slot.run;
        } else place = (first + sum % max_probes) & mask;
        const address = try self.put(words, level, null);
        const run = try self.runs.append(self.home, .{ .address = address });
        self.slots[place] = .{ .hash = sum, .run = run };
        return run;
    }

    fn growSlots(self: *Edges) !void {
        const old = self.slots;
        const allocator = self.home.tables.allocator();
        const slots = try allocator.alloc(Slot, @max(256, old.len * 4));
        @memset(slots, .{ .hash = 0, .run = free_slot });
        for (old) |slot| {
            if (slot.run == free_slot) continue;
            for (0..max_probes) |i| {
                const place = (slot.hash + i) & (slots.len - 1);
                if (slots[place].run != free_slot) continue;
                slots[place] = slot;
                break;
            }
        }
        self.slots = slots;
        allocator.free(old);
    }

    /// Whether a run has these words.
    fn equals(self: *Edges, run: u32, words: []const u32, level: u2) bool {
        var at: u64 = self.runs.row(self.home, run).address;
        if (self.readVarint(&at) != headOf(words, level)) return false;
        var before: u32 = 0;
        for (words, 0..) |word, i| {
            const value: u32 = @truncate(self.readVarint(&at));
            before = if (i == 0) value else before +% unzigzag(value);
            if (before != word) return false;
        }
        return true;
    }

    fn put(self: *Edges, words: []const u32, level: u2, time: ?u64) !u32 {
        const address = std.math.cast(u32, self.log_end) orelse return error.OutOfMemory;
        try self.writeVarint(headOf(words, level));
        if (time) |seconds| try self.writeVarint(seconds);
        var before: u32 = 0;
        for (words, 0..) |word, i| {
            try self.writeVarint(if (i == 0) word else zigzag(word -% before));
            before = word;
        }
        return address;
    }

    fn writeVarint(self: *Edges, value: u64) !void {
        var rest = value;
        while (rest >= 0x80) : (rest >>= 7) try self.writeByte(@as(u8, @truncate(rest)) | 0x80);
        try self.writeByte(@intCast(rest));
    }

    fn writeByte(self: *Edges, byte: u8) !void {
        const page: u32 = @intCast(self.log_end / pages.page_bytes);
        if (page == self.log.addresses.items.len) try self.log.grow(self.home);
        self.log.write(self.home, page)[@intCast(self.log_end % pages.page_bytes)] = byte;
        self.log_end += 1;
    }

    fn readVarint(self: *Edges, at: *u64) u64 {
        var value: u64 = 0;
        var shift: u6 = 0;
        while (true) {
            const page: u32 = @intCast(at.* / pages.page_bytes);
            const byte = self.log.read(self.home, page)[@intCast(at.* % pages.page_bytes)];
            at.* += 1;
            value |= @as(u64, byte & 0x7f) << shift;
            if (byte < 0x80) return value;
            shift += 7;
        }
    }

    /// Ends the search for equal runs, whose memory is free from now on.
    pub fn seal(self: *Edges) void {
        const allocator = self.home.tables.allocator();
        allocator.free(self.slots);
        self.slots = &.{};
        self.open.clearAndFree(allocator);
    }
};

fn headOf(words: []const u32, level: u2) u64 {
    return @as(u64, words.len) << 2 | level;
}

fn zigzag(difference: u32) u32 {
    const signed: i32 = @bitCast(difference);
    return @bitCast((signed << 1) ^ (signed >> 31));
}

fn unzigzag(value: u32) u32 {
    return (value >> 1) ^ (0 -% (value & 1));
}

fn isBoundary(word: u32) bool {
    return mix(word) >> boundary_shift == 0;
}

fn hash(words: []const u32, level: u2) u32 {
    var sum: u32 = @intCast(words.len << 2 | level);
    for (words) |word| sum = mix(std.math.rotl(u32, sum, 5) ^ word);
    return sum ^ sum >> 15;
}

fn mix(word: u32) u32 {
    return (word ^ word >> 16) *% 0x9e37_79b1;
}
