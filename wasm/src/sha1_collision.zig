//! Finds blocks made for a SHA-1 collision attack, by the technique of Marc Stevens
//! ("Counter-cryptanalysis", 2013) that git uses too (sha1dc). Every known attack uses one of a few
//! disturbance vectors, and a vector determines the difference between the two colliding messages.
//! So the second message can be computed from the first; if it results in the same state, this
//! block is half of a collision. Only blocks that meet a vector's unavoidable conditions are tried.

const std = @import("std");
const steps = @import("sha1_steps.zig");
const conditions = @import("sha1_conditions.zig").conditions;

const Condition = @import("sha1_conditions.zig").Condition;
const Lanes = steps.Lanes;
const State = steps.State;

/// A disturbance vector I(k,b) or II(k,b) in the classification of Manuel.
const Vector = struct {
    class: enum { I, II },
    k: u7,
    b: u5,

    /// The step at which both messages have the same state, so that the other one can be computed
    /// from there.
    fn meeting(comptime self: Vector) usize {
        return if (self.k < 50) 58 else 65;
    }

    /// XOR difference of the two expanded messages. The message expansion spreads the vector, each
    /// of its bits begins a local collision, and the words 1 to 5 steps later cancel it.
    fn difference(comptime self: Vector) [80]u32 {
        @setEvalBranchQuota(1_000_000);
        const lead = 5;
        const first = lead + @as(usize, self.k);
        var dv = @as([lead + 80]u32, @splat(0));
        dv[first + 15] = 1 << self.b;
        if (self.class == .II) for ([_]usize{ 1, 3 }) |at| {
            dv[first + at] = 1 << (self.b -% 1);
        };
        for (first + 16..dv.len) |t| dv[t] = std.math.rotl(u32, dv[t - 3] ^ dv[t - 8] ^ dv[t - 14] ^ dv[t - 16], 1);
        for (0..first) |back| {
            const t = first - 1 - back;
            dv[t] = std.math.rotr(u32, dv[t + 16], 1) ^ dv[t + 13] ^ dv[t + 8] ^ dv[t + 2];
        }
        var difference_words: [80]u32 = undefined;
        for (&difference_words, lead..) |*word, t| {
            word.* = dv[t] ^ dv[t - 2] ^ std.math.rotl(u32, dv[t - 1], 5) ^
                std.math.rotl(u32, dv[t - 3] ^ dv[t - 4] ^ dv[t - 5], 30);
        }
        return difference_words;
    }
};

/// The vectors that sha1dc looks for.
const vectors = blk: {
    const I = [_]struct { u7, u5 }{
        .{ 43, 0 }, .{ 44, 0 }, .{ 45, 0 }, .{ 46, 0 }, .{ 46, 2 }, .{ 47, 0 }, .{ 47, 2 }, .{ 48, 0 },
        .{ 48, 2 }, .{ 49, 0 }, .{ 49, 2 }, .{ 50, 0 }, .{ 50, 2 }, .{ 51, 0 }, .{ 51, 2 }, .{ 52, 0 },
    };
    const II = [_]struct { u7, u5 }{
        .{ 45, 0 }, .{ 46, 0 }, .{ 46, 2 }, .{ 47, 0 }, .{ 48, 0 }, .{ 49, 0 }, .{ 49, 2 }, .{ 50, 0 },
        .{ 50, 2 }, .{ 51, 0 }, .{ 51, 2 }, .{ 52, 0 }, .{ 53, 0 }, .{ 54, 0 }, .{ 55, 0 }, .{ 56, 0 },
    };
    var list: [32]Vector = undefined;
    for (I, list[0..16]) |v, *out| out.* = .{ .class = .I, .k = v[0], .b = v[1] };
    for (II, list[16..]) |v, *out| out.* = .{ .class = .II, .k = v[0], .b = v[1] };
    break :blk list;
};

/// Conditions that are tested for every block; the rest is tested only for the remaining vectors.
/// Hashing is fastest with 64 to 100 of them.
const common = 76;

/// For each block, the vectors that the first conditions do not exclude, one bit each.
pub inline fn candidates(expanded: *const steps.Expanded) Lanes {
    const w = &expanded.words;
    var excluded: Lanes = @splat(0);
    inline for (conditions[0..common]) |c| {
        const differ = spread(w[c[0]], c[1]) ^ spread(w[c[3]], c[4]);
        const broken = if (c[2] == .same) differ else ~differ;
        excluded |= broken & @as(Lanes, @splat(c[5]));
    }
    return ~excluded;
}

/// All bits of each word set to its bit `bit`.
inline fn spread(words: Lanes, comptime bit: u5) Lanes {
    const top: @Vector(steps.lane_count, i32) = @bitCast(words << @splat(31 - bit));
    return @bitCast(top >> @splat(31));
}

/// What `isCollision` needs of a compressed block.
pub const Compressed = struct {
    /// The block's lane of the expanded messages.
    w: [*]const u32,
    /// The state before the steps at which vectors meet.
    before_58: State,
    before_65: State,
    /// The chaining value after the block.
    after: State,

    fn word(self: *const Compressed, t: usize) u32 {
        return self.w[t * steps.lane_count];
    }
};

/// Whether the block is half of a collision along one of the candidate vectors.
pub fn isCollision(block: *const Compressed, candidate_vectors: u32) bool {
    var rest = candidate_vectors;
    while (rest != 0) : (rest &= rest - 1) {
        if (isHalf(block, @intCast(@ctz(rest)))) return true;
    }
    return false;
}

const differences = blk: {
    var table: [vectors.len][80]u32 = undefined;
    for (vectors, &table) |v, *words| words.* = v.difference();
    break :blk table;
};

const meetings = blk: {
    var table: [vectors.len]u8 = undefined;
    for (vectors, &table) |v, *at| at.* = v.meeting();
    break :blk table;
};

/// For each vector, the conditions that `candidates` does not test.
const remaining = blk: {
    @setEvalBranchQuota(20_000);
    var table: [vectors.len][]const Condition = undefined;
    for (&table, 0..) |*own, vector| {
        own.* = &.{};
        for (conditions[common..]) |c| {
            if (c[5] >> vector & 1 == 1) own.* = own.* ++ .{c};
        }
    }
    break :blk table;
};

fn isHalf(block: *const Compressed, vector: u5) bool {
    for (remaining[vector]) |c| {
        const first = block.word(c[0]) >> c[1];
        const second = block.word(c[3]) >> c[4];
        if ((first ^ second) & 1 != @intFromEnum(c[2])) return false;
    }
    var other: [80]u32 = undefined;
    for (&other, &differences[vector], 0..) |*word, difference, t| word.* = block.word(t) ^ difference;
    return if (meetings[vector] == 58)
        leadsTo(58, &other, block.before_58, block.after)
    else
        leadsTo(65, &other, block.before_65, block.after);
}

/// Whether the message whose state before step `at` is `state` results in the chaining value
/// `after`.
fn leadsTo(comptime at: usize, w: *const [80]u32, state: State, after: State) bool {
    const start = steps.backward(at, w, state);
    const end = steps.forward(u32, at, 80, w, 1, state);
    for (start, end, after) |s, e, a| if (s +% e != a) return false;
    return true;
}
