//! The steps of SHA-1 (FIPS 180-4), of one block or of several in the lanes of a SIMD vector.

const std = @import("std");

/// The five chaining words of one message.
pub const State = [5]u32;

pub const initial: State = .{ 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };

const constants = [4]u32{ 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };

pub inline fn splat(comptime T: type, value: u32) T {
    return if (T == u32) value else @splat(value);
}

pub inline fn shl(comptime T: type, word: T, comptime count: u5) T {
    return word << (if (T == u32) count else @splat(count));
}

inline fn rotl(comptime T: type, word: T, comptime count: u5) T {
    return std.math.rotl(T, word, @as(u32, count));
}

/// Makes the words 16 to 79 of the expanded message from the first 16.
pub inline fn expand(comptime T: type, w: *[80]T) void {
    inline for (16..80) |t| w[t] = rotl(T, w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
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

/// Runs the steps `from` to `to` - 1.
pub inline fn forward(comptime T: type, comptime from: usize, comptime to: usize, w: *const [80]T, state: [5]T) [5]T {
    @setEvalBranchQuota(10_000);
    var a, var b, var c, var d, var e = state;
    inline for (from..to) |t| {
        const next = rotl(T, a, 5) +% mix(T, t, b, c, d) +% e +% w[t];
        e = d;
        d = c;
        c = rotl(T, b, 30);
        b = a;
        a = next;
    }
    return .{ a, b, c, d, e };
}

/// Takes back the steps `from` - 1 to 0.
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
