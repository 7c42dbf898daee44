//! SHA-1 of many objects, four at a time in the lanes of a SIMD vector, with collision detection. A
//! lane whose object is complete takes the next one; when only one lane has work left, it continues
//! alone.

const std = @import("std");
const steps = @import("sha1_steps.zig");
const collision = @import("sha1_collision.zig");
const sha1 = @import("sha1.zig");

const lane_count = steps.lane_count;
const Lanes = steps.Lanes;
const block_bytes = steps.block_bytes;

/// One object to hash: `header` ("blob 123\0", at most 32 bytes), then `data`, which is read in
/// place.
pub const Job = struct {
    header: []const u8,
    data: []const u8,
    oid: *[20]u8,
    /// Set if the object is part of a collision attack and must be refused.
    collided: bool,
};

/// Hashes every job: writes its `oid` and `collided`.
pub fn hashAll(jobs: []Job) void {
    var hasher: Hasher = .{ .waiting = jobs };
    for (0..lane_count) |i| hasher.refill(i);
    while (hasher.busy > 1) hasher.step();
    for (&hasher.lanes, 0..) |*lane, i| if (lane.job != null) lane.finishAlone(laneOf(&hasher.state, i));
}

/// A lane's progress in its object: header, data and padding as a sequence of blocks.
const Lane = struct {
    job: ?*Job = null,
    /// Offset of the next block in header and data.
    at: usize = 0,
    blocks_left: usize = 0,
    /// A block that is not just a piece of the data.
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

    /// Hashes the rest of the object without the other lanes.
    fn finishAlone(self: *Lane, state: steps.State) void {
        const job = self.job.?;
        var hash: sha1.Sha1 = .{ .state = state, .length = self.at };
        if (self.at > job.header.len + job.data.len) {
            // Only the block that ends the padding is left.
            hash.compress(self.next());
            return self.finish(hash.state, hash.collided);
        }
        if (self.at == 0) hash.update(job.header);
        hash.update(job.data[self.at -| job.header.len..]);
        _ = hash.final();
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
    /// Chaining words, one per lane.
    state: [5]Lanes = undefined,
    /// Lanes that have an object.
    busy: usize = 0,

    fn refill(self: *Hasher, i: usize) void {
        if (self.waiting.len == 0) return;
        self.lanes[i].begin(&self.waiting[0]);
        self.waiting = self.waiting[1..];
        self.busy += 1;
        for (&self.state, steps.initial) |*words, word| @as(*[lane_count]u32, @ptrCast(words))[i] = word;
    }

    /// Compresses the next block of every lane.
    fn step(self: *Hasher) void {
        var blocks: [lane_count]*const [block_bytes]u8 = undefined;
        for (&blocks, &self.lanes) |*block, *lane| block.* = lane.next();
        const expanded: steps.Expanded = .init(blocks);
        const w = &expanded.words;
        const before_58 = steps.forward(Lanes, 0, 58, w, 1, self.state);
        const before_65 = steps.forward(Lanes, 58, 65, w, 1, before_58);
        const end = steps.forward(Lanes, 65, 80, w, 1, before_65);
        inline for (&self.state, end) |*words, e| words.* +%= e;

        const candidates = collision.candidates(&expanded);
        if (@reduce(.Or, candidates) != 0) for (@as([lane_count]u32, candidates), 0..) |vectors, i| {
            if (vectors == 0) continue;
            const job = self.lanes[i].job orelse continue;
            const compressed: collision.Compressed = .{
                .w = expanded.lane(i),
                .before_58 = laneOf(&before_58, i),
                .before_65 = laneOf(&before_65, i),
                .after = laneOf(&self.state, i),
            };
            if (collision.isCollision(&compressed, vectors)) job.collided = true;
        };
        for (&self.lanes, 0..) |*lane, i| {
            if (lane.job == null or lane.blocks_left > 0) continue;
            lane.finish(laneOf(&self.state, i), false);
            self.busy -= 1;
            self.refill(i);
        }
    }
};

/// The state in lane `i`.
fn laneOf(state: *const [5]Lanes, i: usize) steps.State {
    const words: *const [5][lane_count]u32 = @ptrCast(state);
    return .{ words[0][i], words[1][i], words[2][i], words[3][i], words[4][i] };
}
