//! A zlib stream (RFC 1950) inflated piece by piece in fixed memory, by zlib: for what is too large for `deflate.zig`.

const std = @import("std");

const ZStream = extern struct {
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
};

extern fn inflateInit_(stream: *ZStream, version: [*:0]const u8, stream_size: c_int) c_int;
extern fn inflate(stream: *ZStream, flush: c_int) c_int;

const z_no_flush = 0;
const z_ok = 0;
const z_stream_end = 1;
const z_buf_error = -5;

pub const Step = struct {
    /// Bytes taken from the input, and written to the output.
    consumed: usize,
    produced: usize,
    /// The stream is complete and its checksum right. What follows in the input is not part of it.
    done: bool,
};

/// zlib keeps pointers into it: it must stay where it was when `init` was called.
pub const InflateStream = struct {
    z: ZStream,
    /// zlib's state (7 KB) and its window (32 KB).
    memory: [40 << 10]u8 align(16),
    taken: usize,

    /// Makes it ready for a new stream.
    pub fn init(self: *InflateStream) void {
        self.taken = 0;
        self.z = .{ .zalloc = take, .zfree = keep, .@"opaque" = self };
        std.debug.assert(inflateInit_(&self.z, "1", @sizeOf(ZStream)) == z_ok);
    }

    /// Inflates as much as input and output allow; without progress it wants more of one of them.
    pub fn step(self: *InflateStream, in: []const u8, out: []u8) error{BadData}!Step {
        const z = &self.z;
        z.next_in = in.ptr;
        z.avail_in = @intCast(in.len);
        z.next_out = out.ptr;
        z.avail_out = @intCast(out.len);
        const result = inflate(z, z_no_flush);
        if (result != z_ok and result != z_stream_end and result != z_buf_error) return error.BadData;
        return .{
            .consumed = in.len - z.avail_in,
            .produced = out.len - z.avail_out,
            .done = result == z_stream_end,
        };
    }

    fn take(self_opaque: ?*anyopaque, count: c_uint, size: c_uint) callconv(.c) ?*anyopaque {
        const self: *InflateStream = @ptrCast(@alignCast(self_opaque));
        const start = std.mem.alignForward(usize, self.taken, 16);
        const bytes = count * size;
        if (bytes > self.memory.len - start) return null;
        self.taken = start + bytes;
        return &self.memory[start];
    }

    fn keep(_: ?*anyopaque, _: ?*anyopaque) callconv(.c) void {}
};
