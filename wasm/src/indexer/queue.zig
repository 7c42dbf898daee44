//! Objects with known content but no id yet: hashed many at a time, to fill the four SIMD lanes.
//! What depends on the id (node, fsck, edges) is done here too.

const std = @import("std");
const lanes = @import("../sha1_lanes.zig");
const fsck = @import("../fsck/fsck.zig");
const entry_table = @import("entries.zig");
const node_table = @import("nodes.zig");
const pointers = @import("pointers.zig");
const Indexer = @import("indexer.zig").Indexer;
const Error = @import("failure.zig").Error;

const Kind = entry_table.Kind;
const Oid = node_table.Oid;
const capacity = 64;

const Waiting = struct { entry: u32, content: []const u8 };

pub const Queue = struct {
    waiting: [capacity]Waiting = undefined,
    headers: [capacity][32]u8 = undefined,
    jobs: [capacity]lanes.Job = undefined,
    oids: [capacity]Oid = undefined,
    count: usize = 0,
    /// Ring head when the oldest waiting content was added.
    oldest: u32 = 0,

    /// Adds an object; its content stays in place until it is hashed.
    pub fn push(self: *Queue, ix: *Indexer, entry: u32, content: []const u8) Error!void {
        if (self.count == 0) self.oldest = ix.entries.cachedAt(entry);
        self.waiting[self.count] = .{ .entry = entry, .content = content };
        self.count += 1;
        // The next large content reuses its slot, so this one must not wait.
        if (self.count == capacity or content.len > ix.ring.maxContent()) try self.flush(ix);
    }

    /// Flushes before a reservation could overwrite a waiting content.
    pub fn makeSafe(self: *Queue, ix: *Indexer) Error!void {
        if (self.count > 0 and ix.ring.isAging(self.oldest)) try self.flush(ix);
    }

    pub fn flush(self: *Queue, ix: *Indexer) Error!void {
        const n = self.count;
        if (n == 0) return;
        self.count = 0;
        for (self.waiting[0..n], 0..) |w, i| {
            const header = std.fmt.bufPrint(&self.headers[i], "{s} {d}\x00", .{ @tagName(ix.entries.kind(w.entry)), w.content.len }) catch unreachable;
            self.jobs[i] = .{ .header = header, .data = w.content, .oid = &self.oids[i], .collided = false };
        }
        lanes.hashAll(self.jobs[0..n]);
        for (self.waiting[0..n], self.jobs[0..n], self.oids[0..n]) |w, job, *oid| {
            if (job.collided) return ix.refuseObject(.collision, w.entry, oid, 0);
            try finishObject(ix, w.entry, oid, w.content);
        }
    }
};

/// Assigns a hashed object its node, and checks it. `content` is null for a blob that was streamed.
pub fn finishObject(ix: *Indexer, entry: u32, oid: *const Oid, content: ?[]const u8) Error!void {
    const node = ix.nodes.intern(oid) catch return ix.outOfMemory();
    ix.entries.setNode(entry, node);
    const holder = ix.nodes.entry(node);
    // The object occurs twice: the first entry counts, this one's bytes stay unindexed.
    if (holder != entry_table.no_index and holder < ix.entries.pack_count) return;
    ix.nodes.setEntry(node, entry);
    ix.late.wakeNode(ix, node);
    const kind = ix.entries.kind(entry);
    if (kind == .blob) {
        if (content != null and isSpecial(ix.nodes.flags(node))) try checkSpecial(ix, node, content.?);
        if (content != null) try pointers.note(ix, node, content.?);
        return;
    }
    var sink = Sink{ .ix = ix, .entry = entry, .oid = oid };
    sink.begin(kind);
    switch (kind) {
        .commit => fsck.commit(content.?, &sink),
        .tree => fsck.tree(content.?, &sink),
        .tag => fsck.tag(content.?, &sink),
        .blob, .none => unreachable,
    }
    try sink.end();
}

fn isSpecial(flags: node_table.Flags) bool {
    return flags.gitmodules or flags.gitattributes;
}

/// Checks a blob that a tree names `.gitmodules` or `.gitattributes`.
pub fn checkSpecial(ix: *Indexer, node: u32, content: []const u8) Error!void {
    const entry = ix.nodes.entry(node);
    try ix.countWork(entry, content.len);
    const oid = ix.nodes.oidOf(node);
    var sink = Sink{ .ix = ix, .entry = entry, .oid = &oid };
    const flags = ix.nodes.flags(node);
    if (flags.gitmodules) fsck.gitmodules(content, &sink);
    if (flags.gitattributes) fsck.gitattributes(content, &sink);
    ix.nodes.mark(node, .{ .checked = true });
    try sink.outcome();
}

/// Reports a `.gitmodules` or `.gitattributes` that cannot be checked as a blob.
pub fn reportSpecial(ix: *Indexer, node: u32, why: enum { not_a_blob, too_large }) Error!void {
    const oid = ix.nodes.oidOf(node);
    var sink = Sink{ .ix = ix, .entry = ix.nodes.entry(node), .oid = &oid };
    const flags = ix.nodes.flags(node);
    if (flags.gitmodules) sink.report(if (why == .not_a_blob) .gitmodulesBlob else .gitmodulesLarge);
    if (flags.gitattributes) sink.report(if (why == .not_a_blob) .gitattributesBlob else .gitattributesLarge);
    try sink.outcome();
}

/// Receives the findings of fsck.
const Sink = struct {
    ix: *Indexer,
    entry: u32,
    oid: *const Oid,
    failed: ?Error = null,
    has_time: bool = false,

    fn begin(self: *Sink, kind: Kind) void {
        self.ix.edges.begin();
        self.has_time = kind == .commit;
    }

    fn end(self: *Sink) Error!void {
        try self.outcome();
        const ix = self.ix;
        const before = ix.edges.named;
        const address = ix.edges.end(switch (ix.entries.kind(self.entry)) {
            .commit => .commit,
            .tree => .tree,
            else => .other,
        }) catch return ix.outOfMemory();
        ix.entries.setEdges(self.entry, address);
        // Finding the node of a name takes as long as inflating and hashing so many bytes.
        const name_work = 48;
        try ix.addWork(self.entry, (ix.edges.named - before) * name_work);
        if (ix.edges.named > ix.options.max_references) return ix.refuse(.too_many_references, self.entry, ix.edges.named);
    }

    fn outcome(self: *Sink) Error!void {
        if (self.failed) |failed| return failed;
    }

    fn add(self: *Sink, word: u32) void {
        self.ix.edges.add(word) catch {
            self.failed = self.ix.outOfMemory();
        };
    }

    pub fn report(self: *Sink, message: fsck.Message) void {
        if (self.failed != null) return;
        const number = @intFromEnum(message);
        if (self.ix.options.refused >> @intCast(number) & 1 == 0) return;
        self.failed = self.ix.refuseObject(.fsck, self.entry, self.oid, number);
    }

    pub fn edge(self: *Sink, oid: *const Oid, expected: fsck.Kind) void {
        const node = self.mention(oid, switch (expected) {
            .commit => .{ .commit = true },
            .tree => .{ .tree = true },
            .blob => .{ .blob = true },
            .tag => .{ .tag = true },
        }) orelse return;
        self.add(node);
    }

    pub fn special(self: *Sink, oid: *const Oid, what: fsck.Special) void {
        _ = self.mention(oid, switch (what) {
            .gitmodules => .{ .gitmodules = true },
            .gitattributes => .{ .gitattributes = true },
        });
    }

    pub fn commitTime(self: *Sink, seconds: u64) void {
        if (!self.has_time) return;
        self.ix.edges.time = seconds;
    }

    fn mention(self: *Sink, oid: *const Oid, flags: node_table.Flags) ?u32 {
        const node = self.ix.nodes.intern(oid) catch {
            self.failed = self.ix.outOfMemory();
            return null;
        };
        self.ix.nodes.mark(node, flags);
        return node;
    }
};
