//! `fsck_object`: checks one object at a time, for objects that do not arrive in a pack.

const sinks = @import("fsck/sink.zig");
const fsck = @import("fsck/fsck.zig");

/// What an object is checked as, or referred to as: its type's number in a pack, or a blob's role.
const Subject = enum(u8) {
    commit = 1,
    tree = 2,
    blob = 3,
    tag = 4,
    gitmodules = 9,
    gitattributes = 10,
};

/// An object that the checked one refers to.
const Named = extern struct { oid: sinks.Oid, subject: Subject };

/// For JavaScript, little-endian, followed by `Named` records.
const Report = extern struct {
    /// One bit per `Message`.
    findings: u64 = 0,
    /// Commit time in seconds; 0 if there is none.
    commit_time: u64 = 0,
    /// Number of records, which may be more than fit.
    named_count: u32 = 0,
};

const Recorder = struct {
    out: *Report,
    named: []Named,

    pub fn report(self: Recorder, message: fsck.Message) void {
        self.out.findings |= message.bit();
    }

    pub fn commitTime(self: Recorder, seconds: u64) void {
        self.out.commit_time = seconds;
    }

    pub fn edge(self: Recorder, oid: *const sinks.Oid, kind: sinks.Kind) void {
        self.add(oid, switch (kind) {
            .commit => .commit,
            .tree => .tree,
            .blob => .blob,
            .tag => .tag,
        });
    }

    pub fn special(self: Recorder, oid: *const sinks.Oid, role: sinks.Special) void {
        self.add(oid, switch (role) {
            .gitmodules => .gitmodules,
            .gitattributes => .gitattributes,
        });
    }

    fn add(self: Recorder, oid: *const sinks.Oid, subject: Subject) void {
        const at = self.out.named_count;
        if (at < self.named.len) self.named[at] = .{ .oid = oid.*, .subject = subject };
        self.out.named_count = at + 1;
    }
};

/// Checks `len` bytes at `data` as `subject`; writes a `Report` at `out` and up to `capacity`
/// records after it.
export fn fsck_object(subject: u32, data: [*]const u8, len: usize, out: *Report, capacity: usize) void {
    const records: [*]Named = @ptrCast(@as([*]Report, @ptrCast(out)) + 1);
    const sink: Recorder = .{ .out = out, .named = records[0..capacity] };
    const object = data[0..len];
    out.* = .{};
    switch (@as(Subject, @enumFromInt(subject))) {
        .commit => fsck.commit(object, sink),
        .tree => fsck.tree(object, sink),
        .blob => {},
        .tag => fsck.tag(object, sink),
        .gitmodules => fsck.gitmodules(object, sink),
        .gitattributes => fsck.gitattributes(object, sink),
    }
}
