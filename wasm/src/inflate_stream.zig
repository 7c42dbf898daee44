//! A zlib stream (RFC 1950) inflated piece by piece in fixed memory, by zlib: for streams that are
//! too large for `deflate.zig`.

const std = @import("std");
const zlib = @import("zlib.zig");

extern fn inflateInit_(stream: *zlib.ZStream, version: [*:0]const u8, stream_size: c_int) c_int;
extern fn inflate(stream: *zlib.ZStream, flush: c_int) c_int;

/// Must not be moved after `init`. Its bytes are its whole state: a copy that is later put back to
/// the same place continues from where it was made.
pub const InflateStream = struct {
    z: zlib.ZStream,
    /// zlib's state (7 KB) and its window (32 KB).
    memory: zlib.Memory(40 << 10),

    /// Prepares for a new stream.
    pub fn init(self: *InflateStream) void {
        self.z = self.memory.newStream();
        std.debug.assert(inflateInit_(&self.z, zlib.version, @sizeOf(zlib.ZStream)) == zlib.ok);
    }

    /// Inflates as much as input and output allow; without progress it needs more of one of them.
    /// The checksum has been verified when it is done.
    pub fn step(self: *InflateStream, in: []const u8, out: []u8) error{BadData}!zlib.Step {
        self.z.lend(in, out);
        const result = inflate(&self.z, zlib.no_flush);
        if (result != zlib.ok and result != zlib.stream_end and result != zlib.buf_error) return error.BadData;
        return self.z.stepOf(in, out, result == zlib.stream_end);
    }
};
