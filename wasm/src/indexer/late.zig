//! Deltas whose base was not in memory when they arrived. They are resolved after the last byte,
//! each once, in the order in which their bases become known. Waiting deltas are sorted by base, so
//! that any order of entries takes the same time.

const std = @import("std");
const contents = @import("contents.zig");
const entry_table = @import("entries.zig");
const queue = @import("queue.zig");
const Indexer = @import("indexer.zig").Indexer;
const Oid = @import("nodes.zig").Oid;
const Error = @import("failure.zig").Error;

const no_index = entry_table.no_index;

pub const Late = struct {
    /// Deferred deltas in pack order, until `begin`.
    deferred: std.ArrayList(u32) = .empty,
    /// The same sorted by base, ascending: bit 63 for a base node (else a base entry), the base,
    /// the delta.
    waiting: []u64 = &.{},
    /// A stack of deltas whose base is resolved. A delta may be on it twice.
    ready: std.ArrayList(u32) = .empty,
    /// The delta in progress: `NeedBytes` may interrupt it.
    present: u32 = no_index,
    begun: bool = false,
    resolved: u32 = 0,
    /// How many of `deferred` have been checked for a base to request.
    asked: u32 = 0,

    pub fn left(late: *const Late) u32 {
        return @as(u32, @intCast(late.deferred.items.len)) - late.resolved;
    }

    pub fn add(late: *Late, ix: *Indexer, delta: u32) Error!void {
        late.deferred.append(ix.tables.allocator(), delta) catch return ix.outOfMemory();
    }

    /// Resolves all of them; called again after each `NeedBytes` and `NeedBase`.
    pub fn run(late: *Late, ix: *Indexer) Error!void {
        if (!late.begun) try late.begin(ix);
        while (true) {
            while (late.next()) |delta| {
                try late.resolve(ix, delta);
                late.present = no_index;
                if (ix.isSliceOver()) return error.Paused;
            }
            try ix.queue.flush(ix);
            if (late.ready.items.len > 0) continue;
            if (late.left() == 0) return;
            return late.askForBase(ix);
        }
    }

    /// The object of `node` is resolved, so the deltas based on it can be.
    pub fn wakeNode(late: *Late, ix: *Indexer, node: u32) Error!void {
        if (late.begun) try late.wake(ix, 1 << 31 | @as(u64, node));
    }

    fn begin(late: *Late, ix: *Indexer) Error!void {
        const list = ix.entries.list.slice();
        const items = late.deferred.items;
        late.waiting = ix.tables.allocator().alloc(u64, items.len) catch return ix.outOfMemory();
        late.ready.ensureTotalCapacityPrecise(ix.tables.allocator(), items.len) catch return ix.outOfMemory();
        var i = items.len;
        while (i > 0) {
            i -= 1;
            const delta = items[i];
            const is_ref = list.items(.stored)[delta] == .ref_delta;
            const base: u64 = list.items(.base)[delta];
            late.waiting[i] = @as(u64, @intFromBool(is_ref)) << 63 | base << 32 | delta;
            if (try ix.baseOf(delta) != null) late.ready.appendAssumeCapacity(delta);
        }
        std.mem.sortUnstable(u64, late.waiting, {}, std.sort.asc(u64));
        late.begun = true;
    }

    fn next(late: *Late) ?u32 {
        if (late.present == no_index) late.present = late.ready.pop() orelse return null;
        return late.present;
    }

    fn resolve(late: *Late, ix: *Indexer, delta: u32) Error!void {
        if (ix.entries.list.items(.kind)[delta] != .none) return;
        const base = (try ix.baseOf(delta)).?;
        ix.needed_base = base;
        ix.needed_content = null;
        if (ix.isOutside(base)) return error.NeedLarge;
        ix.needed_content = try contents.contentOf(ix, base);
        if (ix.entries.size(delta) == entry_table.large_delta) {
            if (ix.entries.list.items(.kind)[base] == .blob) return error.NeedLarge;
            return ix.refuse(.object_too_large, delta, ix.options.max_resident_bytes + 1);
        }
        const instructions = try contents.readStored(ix, delta);
        if (ix.makesLarge(base, instructions)) |size| {
            if (size > ix.options.max_object_bytes) return ix.refuse(.object_too_large, delta, size);
            return error.NeedLarge;
        }
        try ix.resolve(delta, base, instructions);
        late.resolved += 1;
        try late.wake(ix, delta);
    }

    /// Answers `NeedLarge`: the result of the present delta is stored undeltified.
    pub fn place(late: *Late, ix: *Indexer, oid: *const Oid, size: u64) Error!void {
        const delta = late.present;
        const list = ix.entries.list.slice();
        ix.entries.setSize(delta, size);
        list.items(.kind)[delta] = .blob;
        list.items(.stored)[delta] = .made;
        list.items(.base)[delta] = no_index;
        late.present = no_index;
        late.resolved += 1;
        try queue.finishObject(ix, delta, oid, null);
        try late.wake(ix, delta);
    }

    /// Makes the deltas ready that wait for `key`, the upper half of `waiting`.
    fn wake(late: *Late, ix: *Indexer, key: u64) Error!void {
        var at = std.sort.lowerBound(u64, late.waiting, (key + 1) << 32, order);
        while (at > 0 and late.waiting[at - 1] >> 32 == key) {
            at -= 1;
            late.ready.append(ix.tables.allocator(), @truncate(late.waiting[at])) catch return ix.outOfMemory();
        }
    }

    fn order(wanted: u64, item: u64) std.math.Order {
        return std.math.order(wanted, item);
    }

    /// Requests a base that may be outside the pack. Which ones are is unknown until the deltas
    /// inside are resolved. One at a time, since its deltas may be the bases of the others.
    fn askForBase(late: *Late, ix: *Indexer) Error {
        const list = ix.entries.list.slice();
        while (late.asked < late.deferred.items.len) {
            const delta = late.deferred.items[late.asked];
            late.asked += 1;
            if (list.items(.kind)[delta] != .none or list.items(.stored)[delta] != .ref_delta) continue;
            ix.needed_entry = try ix.addExternal(list.items(.base)[delta]);
            return error.NeedBase;
        }
        for (late.deferred.items) |delta| {
            if (list.items(.kind)[delta] != .none or list.items(.stored)[delta] != .ref_delta) continue;
            const base = list.items(.base)[delta];
            return ix.refuseObject(.delta_base_missing, delta, &ix.nodes.oids.items[base], 0);
        }
        // An OFS delta's base precedes it, so the first that waits is a REF delta.
        unreachable;
    }
};
