//! zlib streams (RFC 1950) as a whole, by libdeflate. There is one compressor and one decompressor
//! in static memory, used for one call at a time.

const std = @import("std");

const Compressor = opaque {};
const Decompressor = opaque {};
const Options = extern struct {
    sizeof_options: usize = @sizeOf(Options),
    malloc: ?*const fn (usize) callconv(.c) ?*anyopaque,
    free: ?*const fn (?*anyopaque) callconv(.c) void,
};

extern fn libdeflate_alloc_compressor_ex(level: c_int, options: *const Options) ?*Compressor;
extern fn libdeflate_zlib_compress(c: *Compressor, in: [*]const u8, in_len: usize, out: [*]u8, out_len: usize) usize;
extern fn libdeflate_zlib_compress_bound(c: ?*Compressor, in_len: usize) usize;
extern fn libdeflate_alloc_decompressor_ex(options: *const Options) ?*Decompressor;
extern fn libdeflate_zlib_decompress_ex(
    d: *Decompressor,
    in: [*]const u8,
    in_len: usize,
    out: [*]u8,
    out_len: usize,
    in_used: *usize,
    out_used: ?*usize,
) c_int;

/// What libdeflate needs for its states on this target, rounded up.
const decompressor_bytes = 12 << 10;
const compressor_bytes = 656 << 10;

/// Git's range of levels. libdeflate's levels above 9 search for the optimum, in 20 times the
/// memory.
pub const max_level = 9;

pub const InflateError = error{
    /// Not a zlib stream, truncated, a wrong checksum, or one that needs a dictionary.
    BadData,
    /// The stream inflates to fewer bytes than `out` has.
    ShortOutput,
    /// The stream inflates to more bytes than `out` has.
    LongOutput,
};

/// Inflates the zlib stream at the start of `in` to exactly `out.len` bytes. `out` is undefined
/// after an error. Returns the stream's length in bytes of `in`.
pub fn inflateWhole(in: []const u8, out: []u8) InflateError!usize {
    const d = decompressor orelse first: {
        const made = libdeflate_alloc_decompressor_ex(&.{ .malloc = Room(decompressor_bytes).take, .free = keep }).?;
        decompressor = made;
        break :first made;
    };
    var used: usize = undefined;
    return switch (libdeflate_zlib_decompress_ex(d, in.ptr, in.len, out.ptr, out.len, &used, null)) {
        0 => used,
        1 => error.BadData,
        2 => error.ShortOutput,
        3 => error.LongOutput,
        else => unreachable,
    };
}

var decompressor: ?*Decompressor = null;

/// Upper bound for the zlib stream of `size` bytes, at every level.
pub fn deflateBound(size: usize) usize {
    return libdeflate_zlib_compress_bound(null, size);
}

/// Writes the zlib stream of `in` to `out`, which has at least `deflateBound(in.len)` bytes.
/// Returns the stream's length. `level` is 0 (stored) to `max_level`.
pub fn deflateWhole(in: []const u8, out: []u8, level: u8) usize {
    std.debug.assert(level <= max_level and out.len >= deflateBound(in.len));
    const c = if (compressor_level == level) compressor.? else other: {
        compressor = libdeflate_alloc_compressor_ex(level, &.{ .malloc = Room(compressor_bytes).take, .free = keep });
        compressor_level = level;
        break :other compressor.?;
    };
    return libdeflate_zlib_compress(c, in.ptr, in.len, out.ptr, out.len);
}

var compressor: ?*Compressor = null;
var compressor_level: ?u8 = null;

/// The memory of one state: the next one reuses that of the last.
fn Room(comptime size: usize) type {
    return struct {
        var bytes: [size]u8 align(16) = undefined;

        fn take(wanted: usize) callconv(.c) ?*anyopaque {
            return if (wanted <= size) &bytes else null;
        }
    };
}

fn keep(_: ?*anyopaque) callconv(.c) void {}
