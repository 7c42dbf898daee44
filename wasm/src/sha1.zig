//! SHA-1 of one message that arrives in pieces, with collision detection.

const std = @import("std");
const steps = @import("sha1_steps.zig");
const collision = @import("sha1_collision.zig");

const block_bytes = steps.block_bytes;
const lane_count = steps.lane_count;

/// A digest, and whether the message is part of a collision attack and must be refused.
pub const Digest = struct { oid: [20]u8, collided: bool };

pub const Sha1 = struct {
    state: steps.State = steps.initial,
    /// Bytes hashed so far.
    length: u64 = 0,
    collided: bool = false,
    /// The incomplete block, `length % 64` bytes of it.
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
        while (rest.len >= block_bytes) {
            const blocks = rest[0..@min(rest.len - rest.len % block_bytes, lane_count * block_bytes)];
            self.compress(blocks);
            rest = rest[blocks.len..];
        }
        @memcpy(self.partial[0..rest.len], rest);
    }

    /// Ends the message; `self` must not be used afterwards.
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

    /// Compresses one to `lane_count` blocks. Compression is sequential, but the message expansion
    /// and the search for signs of an attack are not: the lanes do them for all blocks at once.
    pub fn compress(self: *Sha1, bytes: []const u8) void {
        const count = bytes.len / block_bytes;
        var blocks: [lane_count]*const [block_bytes]u8 = @splat(bytes[0..block_bytes]);
        for (blocks[0..count], 0..) |*block, i| block.* = bytes[i * block_bytes ..][0..block_bytes];
        const expanded: steps.Expanded = .init(blocks);
        const candidates: [lane_count]u32 = collision.candidates(&expanded);
        for (candidates[0..count], 0..) |vectors, i| {
            const w = expanded.lane(i);
            const before_58 = steps.forward(u32, 0, 58, w, lane_count, self.state);
            const before_65 = steps.forward(u32, 58, 65, w, lane_count, before_58);
            const end = steps.forward(u32, 65, 80, w, lane_count, before_65);
            for (&self.state, end) |*word, e| word.* +%= e;
            if (vectors == 0) continue;
            const compressed: collision.Compressed = .{
                .w = w,
                .before_58 = before_58,
                .before_65 = before_65,
                .after = self.state,
            };
            if (collision.isCollision(&compressed, vectors)) self.collided = true;
        }
    }
};

/// The digest for a final state.
pub fn encode(state: steps.State) [20]u8 {
    var oid: [20]u8 = undefined;
    for (state, 0..) |word, i| std.mem.writeInt(u32, oid[4 * i ..][0..4], word, .big);
    return oid;
}
