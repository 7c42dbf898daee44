//! Indexes a pack while it streams past, without keeping it: gitformat-pack(5).
//!
//! `step` is called with more bytes until `done`; entries are inflated, and hashed at once if
//! possible. A delta is resolved on arrival if its base's content is in memory; otherwise it is
//! deferred. `finish` resolves deferred deltas from the bytes that the caller has stored meanwhile.
//! It asks for bytes that are not in memory (`NeedBytes`), and for bases that the pack does not
//! contain (`NeedBase`, a thin pack). Then every object has an id, is checked, and has its
//! references in `edges`.

const std = @import("std");
const deflate = @import("../deflate.zig");
const delta_format = @import("../delta.zig");
const contents = @import("contents.zig");
const large = @import("large.zig");
const Budget = @import("../budget.zig").Budget;
const Edges = @import("edges.zig").Edges;
const Late = @import("late.zig").Late;
const late_checks = @import("late_checks.zig");
const pages = @import("pages.zig");
const window_parse = @import("window.zig");
const entry_table = @import("entries.zig");
const node_table = @import("nodes.zig");
const queue = @import("queue.zig");
const pointer_files = @import("pointers.zig");
const failure_table = @import("failure.zig");
const Ring = @import("ring.zig").Ring;

const Error = failure_table.Error;
const Oid = node_table.Oid;
const Kind = entry_table.Kind;
const no_index = entry_table.no_index;

pub const Options = struct {
    max_objects: u32,
    /// References of all objects together.
    max_references: u64,
    max_resident_bytes: u64,
    /// The same for blobs: larger ones, and what is made from them, are only with the caller. At
    /// most the other limit.
    max_blob_bytes: u64,
    /// A content up to this size needs no permission. At least `stream_threshold_bytes`: smaller
    /// ones never need it.
    free_content_bytes: u64,
    max_object_bytes: u64,
    /// Bytes inflated, hashed or copied for the whole pack.
    max_work_bytes: u64,
    /// Bytes of work until a pause for other requests.
    slice_bytes: u64,
    max_delta_depth: u16,
    stream_threshold_bytes: u32,
    /// Bit n: fsck message n refuses the push.
    refused: u64,
};

/// Copies up to `out.len` bytes of the stored pack from `offset` if they are in the caller's
/// memory; else returns 0.
pub const ReadBack = *const fn (offset: u64, out: []u8) usize;

const Phase = enum { header, entries, large, done };

pub const Indexer = struct {
    /// Memory for contents, limited by the size of an object.
    heap: std.mem.Allocator,
    /// Memory for what grows with the number of objects and references.
    tables: Budget,
    pager: pages.Pager = .{},
    options: Options,
    readBack: ReadBack,
    phase: Phase = .header,
    failure: failure_table.Failure = .{},

    window: window_parse.Window,
    ring: Ring,
    slots: [2]contents.Slot = .{ .{}, .{} },
    read_buffer: []u8 = &.{},
    inflate_buffer: []u8 = &.{},
    back: contents.Back,
    large: large.Large,
    queue: queue.Queue = .{},
    chain: std.ArrayList(u32) = .empty,

    entries: entry_table.Entries = .{},
    nodes: node_table.Nodes = .{},
    edges: Edges = .{},
    late: Late = .{},
    pointers: std.ArrayList(pointer_files.Pointer) = .empty,
    /// How far the checks of `late_checks.zig` have come.
    special_at: u32 = 0,
    typed_at: u32 = 0,
    /// The row at which `countLook` has paused.
    looked_at: u32 = no_index,
    /// Pages moved that have been counted as work.
    moved: u64 = 0,

    declared: u32 = 0,
    /// End of the pack's last entry, final once all have arrived.
    entries_end: u64 = 12,
    work_bytes: u64 = 0,
    /// Work at which the present call ends, and whether it ended `step` before everything was read.
    slice_end: u64 = 0,
    is_paused: bool = false,
    /// Whether contents may take all the memory that they need.
    has_leave: bool = false,
    needed_entry: u32 = no_index,
    /// For `NeedLarge`: the base, and its content if it is held.
    needed_base: u32 = no_index,
    needed_content: ?[]const u8 = null,
    needed_offset: u64 = 0,
    needed_length: u64 = 0,

    /// Connects the tables, once the indexer is where it stays.
    pub fn begin(ix: *Indexer) void {
        const home = pages.Home{ .pager = &ix.pager, .tables = &ix.tables };
        ix.entries.home = home;
        ix.nodes.home = home;
        ix.edges.home = home;
        ix.tables.giveBack = giveBack;
    }

    fn giveBack(tables: *Budget, needed: usize) void {
        const ix: *Indexer = @alignCast(@fieldParentPtr("tables", tables));
        ix.pager.giveBack(tables, needed);
    }

    /// Reads `length` new bytes that the caller wrote into the window. If `is_paused` afterwards,
    /// it must be called again, even without new bytes, once other requests have run.
    pub fn step(ix: *Indexer, length: usize) Error!void {
        ix.window.filled += length;
        ix.beginSlice();
        while (true) {
            const go_on = switch (ix.phase) {
                .header => try ix.readPackHeader(),
                .entries => try ix.readEntry(),
                .large => try large.pump(ix),
                .done => false,
            };
            if (!go_on) return;
            if (ix.isSliceOver()) {
                ix.is_paused = ix.phase != .done;
                return;
            }
        }
    }

    fn beginSlice(ix: *Indexer) void {
        ix.slice_end = ix.work_bytes + ix.options.slice_bytes;
        ix.is_paused = false;
    }

    pub fn isSliceOver(ix: *const Indexer) bool {
        return ix.work_bytes >= ix.slice_end;
    }

    fn readPackHeader(ix: *Indexer) Error!bool {
        const bytes = ix.window.pending();
        if (bytes.len < 12) return false;
        const version = std.mem.readInt(u32, bytes[4..8], .big);
        if (!std.mem.eql(u8, bytes[0..4], "PACK")) return ix.refuse(.bad_header, no_index, 0);
        if (version != 2 and version != 3) return ix.refuse(.bad_header, no_index, version);
        ix.declared = std.mem.readInt(u32, bytes[8..12], .big);
        if (ix.declared > ix.options.max_objects) return ix.refuse(.too_many_objects, no_index, ix.declared);
        ix.window.consumed += 12;
        ix.nodes.expected = ix.declared;
        ix.keepRoom();
        ix.phase = if (ix.declared == 0) .done else .entries;
        return true;
    }

    /// Leaves memory for the search by id, which is not in pages: one piece, which the pages must
    /// not cut up before.
    fn keepRoom(ix: *Indexer) void {
        const taken = node_table.slotBytes(ix.declared) + other_tables;
        ix.pager.max_frames = (ix.tables.left -| taken) / pages.page_bytes;
    }

    /// Bytes of other tables, but for what hostile packs put there.
    const other_tables = 4 << 20;

    /// Reads one entry; false: more bytes are needed.
    fn readEntry(ix: *Indexer) Error!bool {
        const bytes = ix.window.pending();
        const header = (window_parse.parseHeader(bytes) catch return ix.refuse(.bad_entry_header, no_index, 0)) orelse return false;
        if (header.type == 0 or header.type == 5) return ix.refuse(.bad_entry_type, no_index, header.type);
        if (header.size > ix.options.max_object_bytes) return ix.refuse(.object_too_large, no_index, header.size);
        if (header.size > ix.options.stream_threshold_bytes) return ix.beginLarge(header);

        const size: usize = @intCast(header.size);
        const is_delta = header.type >= 6;
        const index = ix.entries.pack_count;
        const room = if (is_delta) try ix.deltaRoom(size) else try ix.scratchRoom(size);
        const used = deflate.inflateWhole(bytes[header.length..], room) catch {
            // Truncated by the window, or wrong: once the window has all bytes that the entry can
            // need, the streaming inflate finds out what is wrong.
            const bound = header.length + size + size / 8 + 64;
            if (bytes.len < bound and bytes.len < ix.window.bytes.len) return false;
            return ix.beginLarge(header);
        };
        try ix.addEntry(header);
        ix.window.consumed += header.length + used;
        ix.entries_end = ix.window.position();
        try ix.countWork(index, size);
        if (is_delta) try ix.arrive(index, room) else try ix.keep(index, room);
        ix.finishEntries();
        return true;
    }

    pub fn finishEntries(ix: *Indexer) void {
        ix.phase = if (ix.entries.pack_count == ix.declared) .done else .entries;
    }

    fn beginLarge(ix: *Indexer, header: window_parse.Header) Error!bool {
        try ix.addEntry(header);
        ix.window.consumed += header.length;
        try large.begin(ix, header.type, header.size);
        ix.phase = .large;
        return true;
    }

    fn addEntry(ix: *Indexer, header: window_parse.Header) Error!void {
        const offset = ix.window.position();
        const index = ix.entries.pack_count;
        var entry = entry_table.NewEntry{
            .offset = offset,
            .size = if (header.type < 6) header.size else 0,
            .kind = if (header.type < 6) @enumFromInt(header.type) else .none,
            .stored = switch (header.type) {
                6 => .ofs_delta,
                7 => .ref_delta,
                else => .plain,
            },
        };
        if (header.type == 6) {
            if (header.distance == 0 or header.distance > offset) return ix.refuse(.delta_base_not_an_entry, no_index, header.distance);
            entry.base = ix.entries.at(offset - header.distance, index) orelse
                return ix.refuse(.delta_base_not_an_entry, no_index, header.distance);
        }
        if (header.base_oid) |oid| entry.base = ix.nodes.intern(oid) catch return ix.outOfMemory();
        _ = ix.entries.append(entry) catch return ix.outOfMemory();
        ix.entries.pack_count += 1;
    }

    fn deltaRoom(ix: *Indexer, size: usize) Error![]u8 {
        if (ix.inflate_buffer.len < size) {
            ix.back.entry = no_index;
            try contents.growTo(ix, &ix.inflate_buffer, 0, @min(ix.options.stream_threshold_bytes, @max(size, 64 << 10)));
        }
        return ix.inflate_buffer[0..size];
    }

    /// Memory for a content that has no entry yet: in the ring if it fits, else in the inflate
    /// buffer.
    fn scratchRoom(ix: *Indexer, size: usize) Error![]u8 {
        if (size > ix.ring.maxContent()) return ix.deltaRoom(size);
        try ix.queue.makeSafe(ix);
        const at = ix.ring.reserve(size) catch return ix.refuse(.too_much_work, no_index, ix.work_bytes);
        return ix.ring.slice(at, size);
    }

    /// Adopts the content of a plain entry, which is in the memory from `scratchRoom`.
    fn keep(ix: *Indexer, index: u32, room: []u8) Error!void {
        var content = room;
        if (room.len > ix.ring.maxContent()) {
            content = try contents.reserve(ix, index, room.len, no_index);
            @memcpy(content, room);
        } else ix.entries.setCachedAt(index, ix.ring.head - Ring.unitsOf(room.len));
        try ix.queue.push(ix, index, content);
    }

    /// A delta's instructions have arrived: resolves it if its base is in memory, else defers it.
    pub fn arrive(ix: *Indexer, index: u32, delta: []const u8) Error!void {
        const base = try ix.baseOf(index);
        const at_hand = if (base) |entry| !ix.isOutside(entry) and contents.cached(ix, entry) != null else false;
        if (at_hand and ix.makesLarge(base.?, delta) == null and ix.mayMake(delta)) return ix.resolve(index, base.?, delta);
        ix.late.add();
    }

    /// Whether a delta's result may be held now. On arrival an entry cannot be revisited; later it
    /// can.
    fn mayMake(ix: *const Indexer, delta: []const u8) bool {
        if (ix.has_leave) return true;
        const header = delta_format.parseHeader(delta) catch return true;
        return header.result_size <= ix.options.free_content_bytes;
    }

    /// Whether only the caller has the content of an entry: a blob too large for memory, or one
    /// made from such a blob.
    pub fn isOutside(ix: *Indexer, entry: u32) bool {
        return switch (ix.entries.stored(entry)) {
            .made => true,
            .plain => ix.entries.kind(entry) == .blob and ix.entries.size(entry) > ix.options.max_blob_bytes,
            .external, .ofs_delta, .ref_delta => false,
        };
    }

    /// The size of a delta's result if it is a blob too large for memory.
    pub fn makesLarge(ix: *Indexer, base: u32, delta: []const u8) ?u64 {
        const header = delta_format.parseHeader(delta) catch return null;
        const is_large = ix.entries.kind(base) == .blob and header.result_size > ix.options.max_blob_bytes;
        return if (is_large) header.result_size else null;
    }

    /// The resolved base entry of a delta, or null.
    pub fn baseOf(ix: *Indexer, index: u32) Error!?u32 {
        const base = ix.entries.base(index);
        if (ix.entries.stored(index) == .ofs_delta) return if (ix.entries.kind(base) == .none) null else base;
        if (ix.nodes.entry(base) == no_index) try ix.queue.flush(ix);
        const entry = ix.nodes.entry(base);
        return if (entry == no_index or ix.entries.kind(entry) == .none) null else entry;
    }

    pub fn resolve(ix: *Indexer, index: u32, base: u32, delta: []const u8) Error!void {
        const depth = @as(u32, ix.entries.depth(base)) + 1;
        if (depth > ix.options.max_delta_depth) return ix.refuse(.delta_chain_too_deep, index, depth);
        ix.entries.setDepth(index, @intCast(depth));
        const content = try contents.apply(ix, index, base, delta);
        ix.entries.setBase(index, base);
        ix.entries.setKind(index, ix.entries.kind(base));
        try ix.queue.push(ix, index, content);
    }

    /// After the last byte: resolves what was deferred. Called again until it succeeds or fails
    /// with `Refused`.
    pub fn finish(ix: *Indexer) Error!void {
        ix.beginSlice();
        if (ix.phase != .done) return ix.explainEnd();
        try ix.queue.flush(ix);
        try ix.late.run(ix);
        try late_checks.checkSpecials(ix);
        try late_checks.checkTypes(ix);
        // More may be added, and is checked then.
        ix.special_at = 0;
        ix.typed_at = 0;
    }

    /// The pack ended too early, or its last bytes are malformed.
    fn explainEnd(ix: *Indexer) Error {
        if (ix.phase == .entries) {
            const header = (window_parse.parseHeader(ix.window.pending()) catch null) orelse
                return ix.refuse(.truncated, no_index, ix.window.position());
            _ = ix.beginLarge(header) catch |e| return e;
            _ = large.pump(ix) catch |e| return e;
        }
        return ix.refuse(.truncated, no_index, ix.window.position() + ix.window.pending().len);
    }

    /// Adds an object that the pack mentions but does not contain.
    pub fn addExternal(ix: *Indexer, node: u32) Error!u32 {
        const entry = ix.entries.append(.{
            .offset = entry_table.no_offset,
            .size = 0,
            .node = node,
            .kind = .none,
            .stored = .external,
        }) catch return ix.outOfMemory();
        ix.nodes.setEntry(node, entry);
        return entry;
    }

    /// The repository lacks the object of this external entry.
    pub fn lack(ix: *Indexer, entry: u32) Error!void {
        const node = ix.entries.node(entry);
        const oid = ix.nodes.oidOf(node);
        if (ix.entries.kind(entry) != .none) return ix.refuseObject(.delta_base_missing, entry, &oid, 0);
        ix.nodes.setEntry(node, no_index);
    }

    /// Memory for the content of an external entry; the caller must fill it before any other call.
    pub fn supply(ix: *Indexer, entry: u32, kind: Kind, size: u64) Error![]u8 {
        if (size > ix.options.max_resident_bytes) return ix.refuse(.object_too_large, no_index, size);
        ix.entries.setKind(entry, kind);
        ix.entries.setSize(entry, size) catch return ix.outOfMemory();
        ix.late.wakeNode(ix, ix.entries.node(entry));
        return contents.reserve(ix, entry, @intCast(size), no_index);
    }

    /// Declares that an external entry is a blob too large for memory.
    pub fn supplyOutside(ix: *Indexer, entry: u32, size: u64) Error!void {
        ix.entries.setKind(entry, .blob);
        ix.entries.setStored(entry, .made);
        ix.entries.setSize(entry, size) catch return ix.outOfMemory();
        ix.late.wakeNode(ix, ix.entries.node(entry));
    }

    /// Counts work, to stop a pack of endless cost: bytes, and a fixed amount for each object.
    pub fn countWork(ix: *Indexer, entry: u32, size: u64) Error!void {
        const object_work = 512;
        try ix.addWork(entry, size + object_work);
    }

    /// Bytes as which a page counts that is put out or read back.
    const page_work = 2048;

    pub fn addWork(ix: *Indexer, entry: u32, work: u64) Error!void {
        ix.work_bytes += work + (ix.pager.moved - ix.moved) * page_work;
        ix.moved = ix.pager.moved;
        if (ix.work_bytes > ix.options.max_work_bytes) return ix.refuse(.too_much_work, entry, ix.work_bytes);
    }

    pub fn need(ix: *Indexer, offset: u64, length: u64) Error {
        ix.needed_offset = offset;
        ix.needed_length = length;
        return error.NeedBytes;
    }

    /// Called for each row of a table that is gone through: others are served now and then.
    pub fn countLook(ix: *Indexer, row: u32) Error!void {
        const looks = 1 << 16;
        if (row % looks != 0) return;
        if (ix.looked_at == row) {
            ix.looked_at = no_index;
            return;
        }
        ix.looked_at = row;
        try ix.addWork(no_index, 0);
        if (row > 0) return error.Paused;
    }

    /// Ends the search by id and for equal runs: all has been named.
    pub fn seal(ix: *Indexer) void {
        ix.nodes.seal();
        ix.edges.seal();
        ix.pager.max_frames = std.math.maxInt(usize);
    }

    pub fn outOfMemory(ix: *Indexer) Error {
        const refused = ix.tables.refused;
        return ix.refuse(if (refused > 0) .index_too_large else .out_of_memory, no_index, refused);
    }

    /// Refuses the pack; `entry` is the one at fault, `no_index` the one at the present position.
    pub fn refuse(ix: *Indexer, code: failure_table.Code, entry: u32, value: u64) Error {
        const known = entry < ix.entries.pack_count;
        ix.failure = .{ .code = code, .value = value, .offset = if (known) ix.entries.offset(entry) else ix.window.position() };
        return error.Refused;
    }

    pub fn refuseObject(ix: *Indexer, code: failure_table.Code, entry: u32, oid: *const Oid, detail: u8) Error {
        const refused = ix.refuse(code, entry, 0);
        ix.failure.oid = oid.*;
        ix.failure.has_oid = 1;
        ix.failure.detail = detail;
        return refused;
    }
};
