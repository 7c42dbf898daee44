//! What both directions of zlib share: the stream, and fixed-size memory for its state.

const std = @import("std");

pub const ZStream = extern struct {
    next_in: ?[*]const u8 = null,
    avail_in: c_uint = 0,
    total_in: c_ulong = 0,
    next_out: ?[*]u8 = null,
    avail_out: c_uint = 0,
    total_out: c_ulong = 0,
    msg: ?[*:0]const u8 = null,
    state: ?*anyopaque = null,
    zalloc: *const fn (?*anyopaque, c_uint, c_uint) callconv(.c) ?*anyopaque,
    zfree: *const fn (?*anyopaque, ?*anyopaque) callconv(.c) void,
    @"opaque": ?*anyopaque,
    data_type: c_int = 0,
    adler: c_ulong = 0,
    reserved: c_ulong = 0,

    /// Sets the input and output of the next call.
    pub fn lend(z: *ZStream, in: []const u8, out: []u8) void {
        z.next_in = in.ptr;
        z.avail_in = @intCast(in.len);
        z.next_out = out.ptr;
        z.avail_out = @intCast(out.len);
    }

    /// How much of `in` the call consumed, and how much of `out` it wrote.
    pub fn stepOf(z: *const ZStream, in: []const u8, out: []u8, done: bool) Step {
        return .{ .consumed = in.len - z.avail_in, .produced = out.len - z.avail_out, .done = done };
    }
};

pub const version = "1";
pub const no_flush = 0;
pub const finish = 4;
pub const ok = 0;
pub const stream_end = 1;
pub const buf_error = -5;

pub const Step = struct {
    /// Bytes consumed from the input, and written to the output.
    consumed: usize,
    produced: usize,
    /// The stream is complete. What follows in the input does not belong to it.
    done: bool,
};

/// Memory for zlib's state. It must not be moved, since zlib keeps pointers into it.
pub fn Memory(size: usize) type {
    return struct {
        const Self = @This();

        bytes: [size]u8 align(16),
        taken: usize,

        /// A stream whose state is allocated here, from the start of the memory.
        pub fn newStream(self: *Self) ZStream {
            self.taken = 0;
            return .{ .zalloc = take, .zfree = keep, .@"opaque" = self };
        }

        fn take(self_opaque: ?*anyopaque, count: c_uint, item_size: c_uint) callconv(.c) ?*anyopaque {
            const self: *Self = @ptrCast(@alignCast(self_opaque));
            const start = std.mem.alignForward(usize, self.taken, 16);
            const wanted = count * item_size;
            if (wanted > self.bytes.len - start) return null;
            self.taken = start + wanted;
            return &self.bytes[start];
        }

        fn keep(_: ?*anyopaque, _: ?*anyopaque) callconv(.c) void {}
    };
}
