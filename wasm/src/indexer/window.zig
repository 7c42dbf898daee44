//! The part of the pack that is in memory while it streams past, and the parser for its entry
//! headers.

const std = @import("std");

pub const Header = struct {
    /// 1–4 as object types, 6 ofs-delta, 7 ref-delta.
    type: u8,
    size: u64,
    /// Bytes up to the zlib data.
    length: u32,
    /// ofs-delta: distance back to the base's first byte.
    distance: u64 = 0,
    base_oid: ?*const [20]u8 = null,
};

/// Parses an entry's header. Null: more bytes are needed. gitformat-pack(5).
pub fn parseHeader(bytes: []const u8) error{Malformed}!?Header {
    if (bytes.len == 0) return null;
    var at: usize = 1;
    var header = Header{ .type = (bytes[0] >> 4) & 7, .size = bytes[0] & 15, .length = 0 };
    var shift: u6 = 4;
    var more = bytes[0] & 0x80 != 0;
    while (more) : (at += 1) {
        if (at == bytes.len) return null;
        if (shift > 46) return error.Malformed;
        header.size |= @as(u64, bytes[at] & 0x7f) << shift;
        shift += 7;
        more = bytes[at] & 0x80 != 0;
    }
    switch (header.type) {
        1...4 => {},
        6 => {
            if (at == bytes.len) return null;
            header.distance = bytes[at] & 0x7f;
            while (bytes[at] & 0x80 != 0) {
                at += 1;
                if (at == bytes.len) return null;
                if (header.distance >> 48 != 0) return error.Malformed;
                header.distance = ((header.distance + 1) << 7) | (bytes[at] & 0x7f);
            }
            at += 1;
        },
        7 => {
            if (bytes.len < at + 20) return null;
            header.base_oid = bytes[at..][0..20];
            at += 20;
        },
        else => {},
    }
    header.length = @intCast(at);
    return header;
}

pub const Window = struct {
    bytes: []u8,
    /// Bytes present.
    filled: usize = 0,
    /// Consumed bytes at the front.
    consumed: usize = 0,
    /// Offset of the window's first byte in the pack.
    start: u64 = 0,

    /// Drops the consumed bytes and returns the free space.
    pub fn room(self: *Window) []u8 {
        if (self.consumed > 0) {
            const rest = self.filled - self.consumed;
            @memmove(self.bytes[0..rest], self.bytes[self.consumed..self.filled]);
            self.start += self.consumed;
            self.filled = rest;
            self.consumed = 0;
        }
        return self.bytes[self.filled..];
    }

    pub fn pending(self: *const Window) []const u8 {
        return self.bytes[self.consumed..self.filled];
    }

    /// Offset in the pack of the next byte to consume.
    pub fn position(self: *const Window) u64 {
        return self.start + self.consumed;
    }

    /// Bytes of the pack from `offset` on, as far as they are in the window.
    pub fn from(self: *const Window, offset: u64) ?[]const u8 {
        if (offset < self.start) return null;
        return self.bytes[@intCast(offset - self.start)..self.filled];
    }
};
