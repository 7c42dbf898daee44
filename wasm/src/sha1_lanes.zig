//! SHA-1 of many objects, four at a time in the lanes of a SIMD vector, with collision detection. A lane whose object
//! is complete takes the next one; when only one lane is left with work, it goes on alone.

const std = @import("std");
const steps = @import("sha1_steps.zig");
const collision = @import("sha1_collision.zig");
const sha1 = @import("sha1.zig");

const lane_count = 4;
const Lanes = @Vector(lane_count, u32);
const block_bytes = sha1.block_bytes;

/// One object to hash: `header` ("blob 123\0", at most 32 bytes), then `data`, which is read where it is.
pub const Job = struct {
    header: []const u8,
    data: []const u8,
    oid: *[20]u8,
    /// Set when the object was made to collide: then it must be refused.
    collided: bool,
};

/// Hashes every job: writes its `oid` and `collided`.
pub fn hashAll(jobs: []Job) void {
    var hasher: Hasher = .{ .waiting = jobs };
    for (0..lane_count) |i| hasher.refill(i);
    while (hasher.busy > 1) hasher.step();
    for (&hasher.lanes, 0..) |*lane, i| if (lane.job != null) lane.finishAlone(hasher.stateOf(i));
}

/// Where a lane stands in its object: header, data and padding as a row of blocks.
const Lane = struct {
    job: ?*Job = null,
    /// Position of the next block in header and data.
    at: usize = 0,
    blocks_left: usize = 0,
    /// A block that is not simply a piece of the data.
    made: [block_bytes]u8 = undefined,

    fn begin(self: *Lane, job: *Job) void {
        std.debug.assert(job.header.len <= 32);
        job.collided = false;
        self.job = job;
        self.at = 0;
        self.blocks_left = (job.header.len + job.data.len + 8) / block_bytes + 1;
    }

    /// The next block; valid until the next call.
    inline fn next(self: *Lane) *const [block_bytes]u8 {
        const job = self.job orelse return &self.made;
        const at = self.at;
        self.at += block_bytes;
        self.blocks_left -= 1;
        const header = job.header.len;
        if (at >= header and at - header + block_bytes <= job.data.len) return job.data[at - header ..][0..block_bytes];
        return self.make(job, at);
    }

    fn make(self: *Lane, job: *const Job, at: usize) *const [block_bytes]u8 {
        const total = job.header.len + job.data.len;
        const made = &self.made;
        @memset(made, 0);
        if (at == 0) @memcpy(made[0..job.header.len], job.header);
        const skipped = job.header.len -| at;
        const from = @min(at -| job.header.len, job.data.len);
        const piece = job.data[from..@min(from + block_bytes - skipped, job.data.len)];
        @memcpy(made[skipped..][0..piece.len], piece);
        if (total >= at and total < at + block_bytes) made[total - at] = 0x80;
        if (self.blocks_left == 0) std.mem.writeInt(u64, made[56..64], @as(u64, total) * 8, .big);
        return made;
    }

    fn finishAlone(self: *Lane, state: steps.State) void {
        var hash: sha1.Sha1 = .{ .state = state };
        while (self.blocks_left > 0) hash.compress(self.next());
        self.finish(hash.state, hash.collided);
    }

    fn finish(self: *Lane, state: steps.State, collided: bool) void {
        const job = self.job.?;
        job.oid.* = sha1.encode(state);
        job.collided = job.collided or collided;
        self.job = null;
    }
};

const Hasher = struct {
    waiting: []Job,
    lanes: [lane_count]Lane = @splat(.{}),
    /// Chaining words, one for each lane.
    state: [5][lane_count]u32 = undefined,
    /// Lanes that have an object.
    busy: usize = 0,

    fn refill(self: *Hasher, i: usize) void {
        if (self.waiting.len == 0) return;
        self.lanes[i].begin(&self.waiting[0]);
        self.waiting = self.waiting[1..];
        self.busy += 1;
        for (&self.state, steps.initial) |*words, word| words[i] = word;
    }

    fn stateOf(self: *const Hasher, i: usize) steps.State {
        var words: steps.State = undefined;
        for (&words, self.state) |*word, lanes| word.* = lanes[i];
        return words;
    }

    /// Compresses the next block of every lane.
    fn step(self: *Hasher) void {
        var w: [80]Lanes = undefined;
        var blocks: [lane_count]*const [block_bytes]u8 = undefined;
        for (&blocks, &self.lanes) |*block, *lane| block.* = lane.next();
        inline for (0..4) |quarter| w[4 * quarter ..][0..4].* = transpose(blocks, 16 * quarter);
        steps.expand(Lanes, &w);
        const before: [5]Lanes = .{ self.state[0], self.state[1], self.state[2], self.state[3], self.state[4] };
        const before_58 = steps.forward(Lanes, 0, 58, &w, before);
        const before_65 = steps.forward(Lanes, 58, 65, &w, before_58);
        const end = steps.forward(Lanes, 65, 80, &w, before_65);
        inline for (&self.state, before, end) |*words, b, e| words.* = b +% e;

        const candidates = collision.candidates(Lanes, &w);
        if (@reduce(.Or, candidates) != 0) for (@as([lane_count]u32, candidates), 0..) |vectors, i| {
            const job = self.lanes[i].job orelse continue;
            if (collision.isCollision(&.{
                .stride = lane_count,
                .w = laneWords(&w, i),
                .before_58 = laneWords(&before_58, i),
                .before_65 = laneWords(&before_65, i),
                .after = @as([*]const u32, &self.state[0]) + i,
            }, vectors)) job.collided = true;
        };
        for (&self.lanes, 0..) |*lane, i| {
            if (lane.job == null or lane.blocks_left > 0) continue;
            lane.finish(self.stateOf(i), false);
            self.busy -= 1;
            self.refill(i);
        }
    }
};

/// Big-endian words `from / 4` to `from / 4 + 3` of the four blocks, a lane for each block.
inline fn transpose(blocks: [lane_count]*const [block_bytes]u8, comptime from: usize) [4]Lanes {
    const reversed = @Vector(16, i32){ 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12 };
    var rows: [4]Lanes = undefined;
    inline for (&rows, blocks) |*row, block| {
        const bytes: @Vector(16, u8) = block[from..][0..16].*;
        row.* = @bitCast(@shuffle(u8, bytes, undefined, reversed));
    }
    const low_01 = @shuffle(u32, rows[0], rows[1], [4]i32{ 0, ~@as(i32, 0), 1, ~@as(i32, 1) });
    const high_01 = @shuffle(u32, rows[0], rows[1], [4]i32{ 2, ~@as(i32, 2), 3, ~@as(i32, 3) });
    const low_23 = @shuffle(u32, rows[2], rows[3], [4]i32{ 0, ~@as(i32, 0), 1, ~@as(i32, 1) });
    const high_23 = @shuffle(u32, rows[2], rows[3], [4]i32{ 2, ~@as(i32, 2), 3, ~@as(i32, 3) });
    return .{
        @shuffle(u32, low_01, low_23, [4]i32{ 0, 1, ~@as(i32, 0), ~@as(i32, 1) }),
        @shuffle(u32, low_01, low_23, [4]i32{ 2, 3, ~@as(i32, 2), ~@as(i32, 3) }),
        @shuffle(u32, high_01, high_23, [4]i32{ 0, 1, ~@as(i32, 0), ~@as(i32, 1) }),
        @shuffle(u32, high_01, high_23, [4]i32{ 2, 3, ~@as(i32, 2), ~@as(i32, 3) }),
    };
}

/// The words of lane `i`, `lane_count` apart.
inline fn laneWords(words: []const Lanes, i: usize) [*]const u32 {
    return @as([*]const u32, @ptrCast(words.ptr)) + i;
}
