//! The references of objects, one record each: the number of words that follow; for a commit its
//! time (low and high word); then nodes: a commit's tree before its parents, a tree's entries in
//! order. A record's address is its offset in words.
//!
//! The versions of a large directory repeat nearly the same thousands of references, perhaps a
//! thousand times. So a large tree's references are cut into runs at places that depend on the
//! contents (at certain nodes, wherever they are), and equal runs are stored once. Then `in_runs`
//! is set in the record's first word, and the words that follow are addresses of runs, each with
//! the number of its nodes before them.

const std = @import("std");
const Allocator = std.mem.Allocator;

const segment_words = 64 << 10;
/// Trees with more nodes are cut into runs.
const whole_nodes = 48;
/// On average one of 32 nodes ends a run, within the limits of its length.
const boundary_shift = 32 - 5;
const min_run = 8;
const max_run = 128;
/// Slots searched for an equal run: a push could be crafted to put many in one place.
const max_probes = 16;

pub const in_runs: u32 = 1 << 31;

pub const Edges = struct {
    /// The record being built.
    open: std.ArrayList(u32) = .empty,
    /// Where records and runs are stored: segments never move.
    segment: []u32 = &.{},
    used: usize = 0,
    /// Addresses of runs by their contents; 0: free.
    runs: []u32 = &.{},
    run_count: usize = 0,
    /// Number of references so far.
    named: u64 = 0,

    /// Begins a record; an unfinished one is dropped.
    pub fn begin(self: *Edges) void {
        self.open.clearRetainingCapacity();
    }

    pub fn add(self: *Edges, allocator: Allocator, word: u32) !void {
        try self.open.append(allocator, word);
    }

    /// Sets word `index` of the open record.
    pub fn set(self: *Edges, index: usize, word: u32) void {
        self.open.items[index] = word;
    }

    /// Ends the record and returns its address. `is_tree`: it consists of nodes only.
    pub fn end(self: *Edges, allocator: Allocator, is_tree: bool) !u32 {
        const words = self.open.items;
        self.named += words.len;
        if (!is_tree or words.len <= whole_nodes) return self.put(allocator, @intCast(words.len), words);
        // The addresses overwrite nodes that have been read already.
        var count: usize = 0;
        var start: usize = 0;
        for (words, 1..) |node, next| {
            const length = next - start;
            const is_end = next == words.len or length == max_run or (length >= min_run and isBoundary(node));
            if (!is_end) continue;
            const run = try self.internRun(allocator, words[start..next]);
            words[count] = run;
            count += 1;
            start = next;
        }
        return self.put(allocator, in_runs | @as(u32, @intCast(count)), words[0..count]);
    }

    fn internRun(self: *Edges, allocator: Allocator, nodes: []const u32) !u32 {
        if (self.run_count * 2 >= self.runs.len) try self.grow(allocator);
        const mask = self.runs.len - 1;
        var slot = hash(nodes) & mask;
        for (0..max_probes) |_| {
            const at = self.runs[slot];
            if (at == 0) {
                self.run_count += 1;
                self.runs[slot] = try self.put(allocator, @intCast(nodes.len), nodes);
                return self.runs[slot];
            }
            if (std.mem.eql(u32, runAt(at), nodes)) return at;
            slot = (slot + 1) & mask;
        }
        return self.put(allocator, @intCast(nodes.len), nodes);
    }

    fn grow(self: *Edges, allocator: Allocator) !void {
        const old = self.runs;
        self.runs = try allocator.alloc(u32, @max(1024, old.len * 2));
        @memset(self.runs, 0);
        const mask = self.runs.len - 1;
        for (old) |at| {
            if (at == 0) continue;
            var slot = hash(runAt(at)) & mask;
            while (self.runs[slot] != 0) slot = (slot + 1) & mask;
            self.runs[slot] = at;
        }
        allocator.free(old);
    }

    fn put(self: *Edges, allocator: Allocator, head: u32, words: []const u32) !u32 {
        const needed = words.len + 1;
        if (self.segment.len - self.used < needed) {
            self.segment = try allocator.alloc(u32, @max(segment_words, needed));
            self.used = 0;
        }
        const place = self.segment[self.used..][0..needed];
        place[0] = head;
        @memcpy(place[1..], words);
        self.used += needed;
        return @intCast(@intFromPtr(place.ptr) / @sizeOf(u32));
    }
};

fn runAt(at: u32) []const u32 {
    const words: [*]const u32 = @ptrFromInt(@as(usize, at) * @sizeOf(u32));
    return words[1..][0..words[0]];
}

fn isBoundary(node: u32) bool {
    return mix(node) >> boundary_shift == 0;
}

fn hash(nodes: []const u32) usize {
    var sum: u32 = @intCast(nodes.len);
    for (nodes) |node| sum = mix(std.math.rotl(u32, sum, 5) ^ node);
    return sum ^ sum >> 15;
}

fn mix(word: u32) u32 {
    return (word ^ word >> 16) *% 0x9e37_79b1;
}
