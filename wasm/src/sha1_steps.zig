//! The steps of SHA-1 (FIPS 180-4), for one block or for several in the lanes of a SIMD vector.

const std = @import("std");

/// The five chaining words of one message.
pub const State = [5]u32;

pub const initial: State = .{ 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };

const constants = [4]u32{ 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };

pub const block_bytes = 64;

/// Number of blocks that are expanded at once, one per lane.
pub const lane_count = 4;
pub const Lanes = @Vector(lane_count, u32);

/// The expanded messages of `lane_count` blocks: word t of block i is at index t of the words, in
/// lane i.
pub const Expanded = struct {
    words: [80]Lanes,

    pub inline fn init(blocks: [lane_count]*const [block_bytes]u8) Expanded {
        var self: Expanded = undefined;
        const w = &self.words;
        inline for (0..4) |quarter| w[4 * quarter ..][0..4].* = transpose(blocks, 16 * quarter);
        inline for (16..80) |t| w[t] = rotl(Lanes, w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
        return self;
    }

    /// The words of block `i`, `lane_count` apart.
    pub inline fn lane(self: *const Expanded, i: usize) [*]const u32 {
        return @as([*]const u32, @ptrCast(&self.words)) + i;
    }
};

/// The big-endian words in 16 bytes of each block from `from` on, one lane per block.
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

inline fn splat(comptime T: type, value: u32) T {
    return if (T == u32) value else @splat(value);
}

inline fn rotl(comptime T: type, word: T, comptime count: u5) T {
    return std.math.rotl(T, word, @as(u32, count));
}

/// The round function of step `t`, with its constant.
inline fn mix(comptime T: type, comptime t: usize, b: T, c: T, d: T) T {
    const f = switch (t / 20) {
        0 => d ^ (b & (c ^ d)),
        1, 3 => b ^ c ^ d,
        2 => (b & c) | (d & (b | c)),
        else => unreachable,
    };
    return f +% splat(T, constants[t / 20]);
}

/// Runs the steps `from` to `to` - 1 of one block (`T` is u32) or of every lane (`Lanes`). The
/// words of the expanded message are `stride` apart.
pub inline fn forward(
    comptime T: type,
    comptime from: usize,
    comptime to: usize,
    w: [*]const T,
    comptime stride: usize,
    state: [5]T,
) [5]T {
    @setEvalBranchQuota(10_000);
    var a, var b, var c, var d, var e = state;
    inline for (from..to) |t| {
        const next = rotl(T, a, 5) +% mix(T, t, b, c, d) +% e +% w[t * stride];
        e = d;
        d = c;
        c = rotl(T, b, 30);
        b = a;
        a = next;
    }
    return .{ a, b, c, d, e };
}

/// Reverts the steps `from` - 1 to 0.
pub inline fn backward(comptime from: usize, w: *const [80]u32, state: State) State {
    var a, var b, var c, var d, var e = state;
    inline for (0..from) |back| {
        const t = from - 1 - back;
        const next = a;
        a = b;
        b = rotl(u32, c, 2);
        c = d;
        d = e;
        e = next -% rotl(u32, a, 5) -% mix(u32, t, b, c, d) -% w[t];
    }
    return .{ a, b, c, d, e };
}
