//! Why a pack is refused: a code, and the values for JavaScript's message.

const Oid = @import("nodes.zig").Oid;

/// Numbers are shared with src/base/codec/pack-indexer.ts.
pub const Code = enum(u8) {
    none = 0,
    bad_header = 1,
    too_many_objects = 2,
    bad_entry_type = 3,
    bad_entry_header = 4,
    bad_zlib = 5,
    object_too_large = 6,
    too_much_work = 7,
    delta_base_not_an_entry = 8,
    delta_base_missing = 9,
    bad_delta = 10,
    delta_chain_too_deep = 11,
    collision = 12,
    fsck = 13,
    wrong_type = 14,
    truncated = 15,
    out_of_memory = 16,
    too_many_references = 17,
    /// The tables; the value is the number of bytes that were requested in addition.
    index_too_large = 18,
};

pub const Failure = struct {
    code: Code = .none,
    /// fsck message number, or the type found where another was expected.
    detail: u8 = 0,
    has_oid: u8 = 0,
    oid: Oid = @splat(0),
    /// Offset in the pack of the entry at fault.
    offset: u64 = 0,
    /// The value that broke the rule, if there is one (a size, a type, a count).
    value: u64 = 0,
};

/// The pack is refused; or something is needed before `finish` can continue: bytes, a base, a large
/// object, permission for more memory, or a pause for other requests. `step` can need only
/// permission.
pub const Error = error{ Refused, NeedBytes, NeedBase, NeedLarge, NeedMemory, Paused };
