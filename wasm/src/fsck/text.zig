//! Text built byte by byte without allocation.

/// Far longer than any name or URL in use.
const limit_bytes = 4096;

/// Keeps the first bytes of what is appended, and counts all of them.
pub const Text = struct {
    len: usize = 0,
    bytes: [limit_bytes]u8 = undefined,

    pub fn clear(self: *Text) void {
        self.len = 0;
    }

    pub fn append(self: *Text, byte: u8) void {
        if (self.len < limit_bytes) self.bytes[self.len] = byte;
        self.len += 1;
    }

    /// Removes what follows the first `len` bytes.
    pub fn cut(self: *Text, len: usize) void {
        self.len = len;
    }

    pub fn kept(self: *const Text) []const u8 {
        return self.bytes[0..@min(self.len, limit_bytes)];
    }

    /// Whether some of it was not kept.
    pub fn isCut(self: *const Text) bool {
        return self.len > limit_bytes;
    }
};
