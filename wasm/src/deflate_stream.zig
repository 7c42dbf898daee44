//! A zlib stream (RFC 1950), or only its deflate data (RFC 1951), made piece by piece in fixed
//! memory, by zlib: for input that is too large for `deflate.zig`.

const std = @import("std");
const zlib = @import("zlib.zig");

extern fn deflateInit2_(
    stream: *zlib.ZStream,
    level: c_int,
    method: c_int,
    window_bits: c_int,
    mem_level: c_int,
    strategy: c_int,
    version: [*:0]const u8,
    stream_size: c_int,
) c_int;
extern fn deflate(stream: *zlib.ZStream, flush: c_int) c_int;

const deflated = 8;
/// A window of 32 KB; negative: without zlib's header and checksum.
const window_bits = 15;
const mem_level = 8;
const default_strategy = 0;

/// Must not be moved after `init`.
pub const DeflateStream = struct {
    z: zlib.ZStream,
    /// zlib's state (6 KB), window (64 KB), hash chains (128 KB) and pending output (80 KB).
    memory: zlib.Memory(288 << 10),

    /// Prepares for a new stream. `level` is 0 to 9.
    pub fn init(self: *DeflateStream, level: u8, raw: bool) void {
        self.z = self.memory.newStream();
        const bits: c_int = if (raw) -window_bits else window_bits;
        const size = @sizeOf(zlib.ZStream);
        const result = deflateInit2_(&self.z, level, deflated, bits, mem_level, default_strategy, zlib.version, size);
        std.debug.assert(result == zlib.ok);
    }

    /// Deflates as much as input and output allow. `last`: nothing follows `in`; then call it until
    /// it is done.
    pub fn step(self: *DeflateStream, in: []const u8, out: []u8, last: bool) zlib.Step {
        self.z.lend(in, out);
        const result = deflate(&self.z, if (last) zlib.finish else zlib.no_flush);
        std.debug.assert(result == zlib.ok or result == zlib.stream_end or result == zlib.buf_error);
        return self.z.stepOf(in, out, result == zlib.stream_end);
    }
};
