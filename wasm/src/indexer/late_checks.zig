//! Checks that need all objects resolved: what an object says about an earlier one.

const contents = @import("contents.zig");
const failure_table = @import("failure.zig");
const node_table = @import("nodes.zig");
const entry_table = @import("entries.zig");
const queue = @import("queue.zig");
const Indexer = @import("indexer.zig").Indexer;

const Error = failure_table.Error;
const no_index = entry_table.no_index;

/// Blobs that arrived before a tree named them `.gitmodules` or `.gitattributes`.
pub fn checkSpecials(ix: *Indexer) Error!void {
    while (ix.special_at < ix.nodes.count()) : (ix.special_at += 1) {
        const node = ix.special_at;
        try ix.countLook(node);
        const flags = ix.nodes.flags(node);
        if (!(flags.gitmodules or flags.gitattributes) or flags.checked) continue;
        const entry = ix.nodes.entry(node);
        if (entry == no_index) continue;
        const kind = ix.entries.kind(entry);
        if (kind == .none) {
            ix.needed_entry = entry;
            return error.NeedBase;
        }
        if (kind != .blob or ix.entries.size(entry) > ix.options.max_resident_bytes) {
            try queue.reportSpecial(ix, node, if (kind == .blob) .too_large else .not_a_blob);
            continue;
        }
        try queue.checkSpecial(ix, node, try contents.contentOf(ix, entry));
    }
}

/// Objects whose type differs from that of a reference to them.
pub fn checkTypes(ix: *Indexer) Error!void {
    while (ix.typed_at < ix.nodes.count()) : (ix.typed_at += 1) {
        const node = ix.typed_at;
        try ix.countLook(node);
        const entry = ix.nodes.entry(node);
        if (entry == no_index) continue;
        const kind = @intFromEnum(ix.entries.kind(entry));
        if (kind == 0) continue;
        const own = @as(u7, 1) << @intCast(kind - 1);
        const named: u7 = @bitCast(ix.nodes.flags(node));
        const others = named & node_table.Flags.type_mask & ~own;
        if (others == 0) continue;
        const oid = ix.nodes.oidOf(node);
        const refused = ix.refuseObject(.wrong_type, entry, &oid, kind);
        ix.failure.value = @ctz(others) + 1;
        return refused;
    }
}
