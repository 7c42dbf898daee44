//! The contents of recent objects: a ring buffer that overwrites the oldest. Positions only
//! increase, so that one comparison tells whether a content is still there, and nothing has to be
//! evicted.

const std = @import("std");

pub const Ring = struct {
    bytes: []align(16) u8,
    /// Position of the next content, in units; it only grows.
    head: u32 = 1,

    pub const unit = 16;

    /// Largest content for the ring: a reservation then never touches the contents of the last
    /// quarter.
    pub fn maxContent(self: *const Ring) usize {
        return self.bytes.len / 4;
    }

    fn units(self: *const Ring) u32 {
        return @intCast(self.bytes.len / unit);
    }

    /// Units that a content takes.
    pub fn unitsOf(size: usize) u32 {
        return @intCast(@max(1, (size + unit - 1) / unit));
    }

    /// Reserves `size` bytes (at most `maxContent`) and returns their position.
    pub fn reserve(self: *Ring, size: usize) error{RingExhausted}!u32 {
        const need = unitsOf(size);
        const room = self.units() - self.head % self.units();
        // A content is contiguous: one that does not fit before the wrap begins after it.
        if (need > room) self.head = std.math.add(u32, self.head, room) catch return error.RingExhausted;
        const at = self.head;
        self.head = std.math.add(u32, at, need) catch return error.RingExhausted;
        return at;
    }

    /// Whether a content reserved at `at` is still intact.
    pub fn holds(self: *const Ring, at: u32) bool {
        return at != 0 and self.head - at <= self.units();
    }

    /// Whether the next reservation could overwrite `at`.
    pub fn isOld(self: *const Ring, at: u32) bool {
        return self.head - at > self.units() / 2;
    }

    /// Whether the next two reservations could overwrite `at`: each takes at most a quarter, and a
    /// wrap skips one.
    pub fn isAging(self: *const Ring, at: u32) bool {
        return self.head - at > self.units() / 4;
    }

    pub fn slice(self: *const Ring, at: u32, size: usize) []u8 {
        const start = @as(usize, at % self.units()) * unit;
        return self.bytes[start..][0..size];
    }
};

test "a content stays until the ring has gone round" {
    var memory: [1024]u8 align(16) = undefined;
    var ring = Ring{ .bytes = &memory };
    const first = try ring.reserve(100);
    @memset(ring.slice(first, 100), 7);
    var i: usize = 0;
    while (ring.holds(first)) : (i += 1) {
        try std.testing.expectEqual(@as(u8, 7), ring.slice(first, 100)[99]);
        const next = try ring.reserve(200);
        @memset(ring.slice(next, 200), 9);
    }
    try std.testing.expect(i >= 3);
}
