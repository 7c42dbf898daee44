//! Deltas whose base was not in memory when they arrived. They are resolved after the last byte,
//! each once, in the order in which their bases become known. Each is in one list, linked through
//! the entries: those that wait for one entry, those that wait for one object by its id (a node),
//! and those that are ready. So they take no memory of their own, and any order of entries takes
//! the same time.

const std = @import("std");
const contents = @import("contents.zig");
const entry_table = @import("entries.zig");
const queue = @import("queue.zig");
const Indexer = @import("indexer.zig").Indexer;
const Oid = @import("nodes.zig").Oid;
const Error = @import("failure.zig").Error;

const no_index = entry_table.no_index;

pub const Late = struct {
    /// Deltas left for the end.
    deferred: u32 = 0,
    /// The first of a list of deltas whose base is resolved.
    ready: u32 = no_index,
    /// The delta in progress: `NeedBytes` may interrupt it.
    present: u32 = no_index,
    /// Entries before this one are in their lists.
    begun: ?u32 = null,
    resolved: u32 = 0,
    /// Entries from the first on that have been checked for a base to request.
    asked: u32 = 0,

    pub fn left(late: *const Late) u32 {
        return late.deferred - late.resolved;
    }

    pub fn add(late: *Late) void {
        late.deferred += 1;
    }

    /// Resolves all of them; called again after each `NeedBytes` and `NeedBase`.
    pub fn run(late: *Late, ix: *Indexer) Error!void {
        if (late.deferred == 0) return;
        try late.begin(ix);
        while (true) {
            while (late.next(ix)) |delta| {
                try late.resolve(ix, delta);
                late.present = no_index;
                if (ix.isSliceOver()) return error.Paused;
            }
            try ix.queue.flush(ix);
            if (late.ready != no_index) continue;
            if (late.left() == 0) return;
            return late.askForBase(ix);
        }
    }

    /// The object of `node` is resolved, so the deltas based on it can be.
    pub fn wakeNode(late: *Late, ix: *Indexer, node: u32) void {
        if (late.begun == null) return;
        const first = ix.nodes.child(node);
        if (first == no_index) return;
        ix.nodes.setChild(node, no_index);
        late.makeReady(ix, first);
    }

    /// Puts each deferred delta into the list of its base, or among those that are ready.
    /// Backwards, so that the first of a list is the first of the pack.
    fn begin(late: *Late, ix: *Indexer) Error!void {
        if (late.begun == null) late.begun = ix.entries.pack_count;
        while (late.begun.? > 0) {
            const delta = late.begun.? - 1;
            try ix.countLook(delta);
            late.begun = delta;
            const kind = ix.entries.kind(delta);
            if (kind == .none) {
                if (try ix.baseOf(delta) != null) {
                    ix.entries.setLink(delta, late.ready);
                    late.ready = delta;
                } else late.wait(ix, delta);
            }
        }
    }

    fn wait(_: *Late, ix: *Indexer, delta: u32) void {
        const base = ix.entries.base(delta);
        if (ix.entries.stored(delta) == .ofs_delta) return ix.entries.addChild(base, delta);
        const first = ix.nodes.child(base);
        ix.nodes.setChild(base, delta);
        ix.entries.setLink(delta, first);
    }

    /// Takes the next delta.
    fn next(late: *Late, ix: *Indexer) ?u32 {
        if (late.present == no_index) {
            if (late.ready == no_index) return null;
            late.present = late.ready;
            late.ready = ix.entries.link(late.present);
            // From now on, this is where its content is.
            ix.entries.setLink(late.present, 0);
        }
        return late.present;
    }

    fn resolve(late: *Late, ix: *Indexer, delta: u32) Error!void {
        const base = (try ix.baseOf(delta)).?;
        ix.needed_base = base;
        ix.needed_content = null;
        if (ix.isOutside(base)) return error.NeedLarge;
        ix.needed_content = try contents.contentOf(ix, base);
        if (ix.entries.size(delta) == entry_table.large_delta) {
            if (ix.entries.kind(base) == .blob) return error.NeedLarge;
            return ix.refuse(.object_too_large, delta, ix.options.max_resident_bytes + 1);
        }
        const instructions = try contents.readStored(ix, delta);
        if (ix.makesLarge(base, instructions)) |size| {
            if (size > ix.options.max_object_bytes) return ix.refuse(.object_too_large, delta, size);
            return error.NeedLarge;
        }
        try ix.resolve(delta, base, instructions);
        late.resolved += 1;
        late.wake(ix, delta);
    }

    /// Answers `NeedLarge`: the result of the present delta is stored undeltified.
    pub fn place(late: *Late, ix: *Indexer, oid: *const Oid, size: u64) Error!void {
        const delta = late.present;
        ix.entries.setSize(delta, size) catch return ix.outOfMemory();
        ix.entries.setKind(delta, .blob);
        ix.entries.setStored(delta, .made);
        ix.entries.setBase(delta, no_index);
        late.present = no_index;
        late.resolved += 1;
        try queue.finishObject(ix, delta, oid, null);
        late.wake(ix, delta);
    }

    /// Makes the deltas ready that wait for an entry.
    fn wake(late: *Late, ix: *Indexer, entry: u32) void {
        const first = ix.entries.takeChildren(entry);
        if (first != no_index) late.makeReady(ix, first);
    }

    /// Puts a list before those that are ready.
    fn makeReady(late: *Late, ix: *Indexer, first: u32) void {
        var last = first;
        while (ix.entries.link(last) != no_index) last = ix.entries.link(last);
        ix.entries.setLink(last, late.ready);
        late.ready = first;
    }

    /// Requests a base that may be outside the pack. Which ones are is unknown until the deltas
    /// inside are resolved. One at a time, since its deltas may be the bases of the others.
    fn askForBase(late: *Late, ix: *Indexer) Error {
        while (late.asked < ix.entries.pack_count) {
            const delta = late.asked;
            late.asked += 1;
            if (!isUnbased(ix, delta)) continue;
            ix.needed_entry = try ix.addExternal(ix.entries.base(delta));
            return error.NeedBase;
        }
        var delta: u32 = 0;
        while (delta < ix.entries.pack_count) : (delta += 1) {
            if (!isUnbased(ix, delta)) continue;
            const oid = ix.nodes.oidOf(ix.entries.base(delta));
            return ix.refuseObject(.delta_base_missing, delta, &oid, 0);
        }
        // An OFS delta's base precedes it, so the first that waits is a REF delta.
        unreachable;
    }
};

/// Whether an entry is a delta that still waits for an object by its id.
fn isUnbased(ix: *Indexer, entry: u32) bool {
    return ix.entries.kind(entry) == .none and ix.entries.stored(entry) == .ref_delta;
}
