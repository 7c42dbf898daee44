//! What objects refer to, a record each: the number of words that follow; for a commit its time (low and high word); then
//! nodes: a commit's tree before its parents, a tree's entries in order. Records lie in segments that never move, since a
//! list that grows would leave its former selves behind; a record's address is its place.

const std = @import("std");
const Allocator = std.mem.Allocator;

const segment_words = 64 << 10;

pub const Edges = struct {
    segment: []u32 = &.{},
    /// Words used in the segment, and where in it the open record begins.
    used: usize = 0,
    record: usize = 0,

    /// Begins a record; one that was begun and not ended is dropped.
    pub fn begin(self: *Edges, allocator: Allocator) !void {
        self.used = self.record;
        try self.add(allocator, 0);
    }

    pub fn add(self: *Edges, allocator: Allocator, word: u32) !void {
        if (self.used == self.segment.len) try self.renew(allocator);
        self.segment[self.used] = word;
        self.used += 1;
    }

    /// Sets word `index` of the open record.
    pub fn set(self: *Edges, index: usize, word: u32) void {
        self.segment[self.record + index] = word;
    }

    /// Ends the record, which stays where it is returned.
    pub fn end(self: *Edges) []const u32 {
        const words = self.segment[self.record..self.used];
        words[0] = @intCast(words.len - 1);
        self.record = self.used;
        return words;
    }

    /// Goes on in a new segment, and takes the open record along.
    fn renew(self: *Edges, allocator: Allocator) !void {
        const open = self.segment[self.record..self.used];
        const renewed = try allocator.alloc(u32, @max(segment_words, open.len * 2));
        @memcpy(renewed[0..open.len], open);
        self.* = .{ .segment = renewed, .used = open.len };
    }
};

test "records survive the change of segment" {
    var arena = std.heap.ArenaAllocator.init(std.testing.allocator);
    defer arena.deinit();
    var edges = Edges{};
    for ([_]u32{ 3, segment_words - 10, 20, 3 * segment_words }) |length| {
        try edges.begin(arena.allocator());
        for (0..length) |i| try edges.add(arena.allocator(), @intCast(i));
        const words = edges.end();
        try std.testing.expectEqual(length, words[0]);
        for (words[1..], 0..) |word, i| try std.testing.expectEqual(i, word);
    }
}
