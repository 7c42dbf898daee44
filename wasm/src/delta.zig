//! Deltas of gitformat-pack(5), "Deltified representation". Every byte of a delta is hostile until
//! checked.

pub const Error = error{BadDelta};

/// What a delta states. Both sizes are unverified: the caller checks them against its limits before
/// it allocates.
pub const Header = struct {
    base_size: u64,
    result_size: u64,
    /// Bytes before the first instruction.
    length: usize,
};

/// Reads the two sizes at the start of a delta; below 2^56 each.
pub fn parseHeader(delta: []const u8) Error!Header {
    var at: usize = 0;
    const base_size = try parseSize(delta, &at);
    const result_size = try parseSize(delta, &at);
    return .{ .base_size = base_size, .result_size = result_size, .length = at };
}

fn parseSize(delta: []const u8, at: *usize) Error!u64 {
    var size: u64 = 0;
    for (0..8) |group| {
        if (at.* == delta.len) return error.BadDelta;
        const byte = delta[at.*];
        at.* += 1;
        size |= @as(u64, byte & 0x7f) << @intCast(7 * group);
        if (byte & 0x80 == 0) return size;
    }
    return error.BadDelta;
}

/// Writes the result of applying `delta` to `base`, exactly `out.len` bytes. `out` must not overlap
/// the others and is undefined after an error.
pub fn apply(base: []const u8, delta: []const u8, out: []u8) Error!void {
    const header = try parseHeader(delta);
    if (header.base_size != base.len or header.result_size != out.len) return error.BadDelta;
    var instructions = delta[header.length..];
    var filled: usize = 0;
    while (instructions.len > 0) {
        const opcode = instructions[0];
        instructions = instructions[1..];
        const source = if (opcode & 0x80 != 0)
            try copied(base, opcode, &instructions)
        else
            try inserted(opcode, &instructions);
        if (source.len > out.len - filled) return error.BadDelta;
        @memcpy(out[filled..][0..source.len], source);
        filled += source.len;
    }
    if (filled != out.len) return error.BadDelta;
}

/// The part of the base that a copy instruction refers to. The opcode's low bits say which bytes of
/// offset and size follow; absent ones are zero, and size zero means 64 KiB.
inline fn copied(base: []const u8, opcode: u8, instructions: *[]const u8) Error![]const u8 {
    if (instructions.len < @popCount(opcode & 0x7f)) return error.BadDelta;
    var fields: [7]u8 = @splat(0);
    var at: usize = 0;
    inline for (&fields, 0..) |*field, bit| {
        if (opcode & 1 << bit != 0) {
            field.* = instructions.*[at];
            at += 1;
        }
    }
    instructions.* = instructions.*[at..];
    const offset = @as(u32, @bitCast(fields[0..4].*));
    const stated = @as(u24, @bitCast(fields[4..7].*));
    const size: u32 = if (stated == 0) 0x10000 else stated;
    if (offset > base.len or size > base.len - offset) return error.BadDelta;
    return base[offset..][0..size];
}

/// The bytes after an insert instruction, whose opcode is their number. Opcode zero is reserved.
inline fn inserted(opcode: u8, instructions: *[]const u8) Error![]const u8 {
    if (opcode == 0 or opcode > instructions.len) return error.BadDelta;
    const bytes = instructions.*[0..opcode];
    instructions.* = instructions.*[opcode..];
    return bytes;
}
