//! SHA-1 of one message that comes in pieces, with collision detection.

const std = @import("std");
const steps = @import("sha1_steps.zig");
const collision = @import("sha1_collision.zig");

pub const block_bytes = 64;

/// A digest, and whether the message was made to collide: then it must be refused.
pub const Digest = struct { oid: [20]u8, collided: bool };

pub const Sha1 = struct {
    state: steps.State = steps.initial,
    /// Bytes taken so far.
    length: u64 = 0,
    collided: bool = false,
    /// The block that is not full yet, `length % 64` bytes of it.
    partial: [block_bytes]u8 = undefined,

    pub fn init() Sha1 {
        return .{};
    }

    pub fn update(self: *Sha1, bytes: []const u8) void {
        var rest = bytes;
        const filled: usize = @intCast(self.length % block_bytes);
        self.length += bytes.len;
        if (filled > 0) {
            const taken = @min(block_bytes - filled, rest.len);
            @memcpy(self.partial[filled..][0..taken], rest[0..taken]);
            if (filled + taken < block_bytes) return;
            self.compress(&self.partial);
            rest = rest[taken..];
        }
        while (rest.len >= block_bytes) : (rest = rest[block_bytes..]) self.compress(rest[0..block_bytes]);
        @memcpy(self.partial[0..rest.len], rest);
    }

    /// The message is complete; `self` is of no more use.
    pub fn final(self: *Sha1) Digest {
        const bits = self.length * 8;
        const filled: usize = @intCast(self.length % block_bytes);
        const padding = "\x80" ++ "\x00" ** (block_bytes - 1);
        self.update(padding[0 .. (if (filled < 56) @as(usize, 56) else 120) - filled]);
        var length: [8]u8 = undefined;
        std.mem.writeInt(u64, &length, bits, .big);
        self.update(&length);
        return .{ .oid = encode(self.state), .collided = self.collided };
    }

    pub fn compress(self: *Sha1, block: *const [block_bytes]u8) void {
        var w: [80]u32 = undefined;
        for (w[0..16], 0..) |*word, i| word.* = std.mem.readInt(u32, block[4 * i ..][0..4], .big);
        steps.expand(u32, &w);
        const before_58 = steps.forward(u32, 0, 58, &w, self.state);
        const before_65 = steps.forward(u32, 58, 65, &w, before_58);
        const end = steps.forward(u32, 65, 80, &w, before_65);
        for (&self.state, end) |*word, e| word.* +%= e;
        const candidates = collision.candidates(u32, &w);
        if (candidates == 0) return;
        if (collision.isCollision(&.{
            .stride = 1,
            .w = &w,
            .before_58 = &before_58,
            .before_65 = &before_65,
            .after = &self.state,
        }, candidates)) self.collided = true;
    }
};

/// The digest that a final state stands for.
pub fn encode(state: steps.State) [20]u8 {
    var oid: [20]u8 = undefined;
    for (state, 0..) |word, i| std.mem.writeInt(u32, oid[4 * i ..][0..4], word, .big);
    return oid;
}
