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
    const flags = ix.nodes.flags.items;
    while (ix.special_at < flags.len) : (ix.special_at += 1) {
        const node = ix.special_at;
        if (flags[node] & node_table.Flags.special_mask == 0) continue;
        const entry = ix.nodes.entries.items[node];
        const done: node_table.Flags = @bitCast(flags[node]);
        if (done.checked or entry == no_index) continue;
        if (ix.entries.list.items(.kind)[entry] == .none) {
            ix.needed_entry = entry;
            return error.NeedBase;
        }
        const is_blob = ix.entries.list.items(.kind)[entry] == .blob;
        const size = ix.entries.size(entry);
        if (!is_blob or size > ix.options.max_resident_bytes) {
            try queue.reportSpecial(ix, node, if (is_blob) .too_large else .not_a_blob);
            continue;
        }
        try queue.checkSpecial(ix, node, try contents.contentOf(ix, entry));
    }
    ix.special_at = 0;
}

/// Objects whose type differs from that of a reference to them.
pub fn checkTypes(ix: *Indexer) Error!void {
    for (ix.nodes.flags.items, ix.nodes.entries.items, 0..) |flags, entry, node| {
        if (entry == no_index) continue;
        const kind = @intFromEnum(ix.entries.list.items(.kind)[entry]);
        if (kind == 0) continue;
        const own = @as(u8, 1) << @intCast(kind - 1);
        const others = flags & node_table.Flags.type_mask & ~own;
        if (others == 0) continue;
        const refused = ix.refuseObject(.wrong_type, entry, &ix.nodes.oids.items[node], kind);
        ix.failure.value = @ctz(others) + 1;
        return refused;
    }
}
