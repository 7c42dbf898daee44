//! fsck of a tree: entries of `<octal mode> SP <name> NUL <oid>`, sorted by name.

const std = @import("std");
const sinks = @import("sink.zig");
const names = @import("names.zig");
const Dotfile = names.Dotfile;

/// The longest name that git's fsck accepts (`fsck.largePathname`).
const name_limit_bytes = 4096;

const type_mask = 0o170000;
const directory = 0o040000;
const regular = 0o100000;
const symlink = 0o120000;
const gitlink = 0o160000;

/// A mode of one digit, a space, an empty name, its NUL, an oid: git calls anything shorter
/// malformed.
const least_entry_bytes = 3 + sinks.oid_bytes;

/// Checks a tree; reports its subtrees and blobs, and its `.gitmodules` and `.gitattributes`.
pub fn check(data: []const u8, sink: anytype) void {
    if (data.len == 0) return;
    // Every entry ends in NUL and oid, so with this NUL in place no scan for one runs past the end.
    if (data.len < least_entry_bytes or data[data.len - sinks.oid_bytes - 1] != 0) return sink.report(.badTree);

    var order: Order = .{};
    var rest = data;
    while (rest.len > 0) {
        const entry = Entry.parse(rest) orelse return sink.report(.badTree);
        checkEntry(entry, sink);
        order.check(entry, sink);
        rest = rest[entry.bytes..];
    }
}

const lane_bytes = 16;
const Lane = @Vector(lane_bytes, u8);

/// One bit for each byte of the lane that equals `byte`.
fn bitsOf(lane: Lane, byte: u8) u16 {
    return @bitCast(lane == @as(Lane, @splat(byte)));
}

const Entry = struct {
    /// Git keeps 16 bits of the written number.
    mode: u16,
    is_zero_padded: bool,
    name: []const u8,
    has_slash: bool,
    has_backslash: bool,
    oid: *const sinks.Oid,
    /// Length of the whole entry.
    bytes: usize,

    /// The entry at the start of `data`, whose last 21 bytes are a NUL and an oid.
    fn parse(data: []const u8) ?Entry {
        if (data.len < least_entry_bytes or data[0] == ' ') return null;
        var mode: u16 = 0;
        var start: usize = 0;
        while (data[start] != ' ') : (start += 1) {
            if (data[start] < '0' or data[start] > '7') return null;
            mode = (mode << 3) | (data[start] - '0');
        }
        start += 1;

        // An oid follows the name's NUL, so no lane reaches past the entry.
        var end = start;
        var has_slash = false;
        var has_backslash = false;
        const nul = while (true) : (end += lane_bytes) {
            const lane: Lane = data[end..][0..lane_bytes].*;
            const nul = @ctz(bitsOf(lane, 0));
            has_slash = has_slash or @ctz(bitsOf(lane, '/')) < nul;
            has_backslash = has_backslash or @ctz(bitsOf(lane, '\\')) < nul;
            if (nul < lane_bytes) break nul;
        };
        end += nul;
        if (end == start) return null;
        return .{
            .mode = mode,
            .is_zero_padded = data[0] == '0',
            .name = data[start..end],
            .has_slash = has_slash,
            .has_backslash = has_backslash,
            .oid = data[end + 1 ..][0..sinks.oid_bytes],
            .bytes = end + 1 + sinks.oid_bytes,
        };
    }

    fn isSymlink(self: Entry) bool {
        return self.mode & type_mask == symlink;
    }
};

fn checkEntry(entry: Entry, sink: anytype) void {
    switch (entry.mode & type_mask) {
        directory => sink.edge(entry.oid, .tree),
        regular, symlink => sink.edge(entry.oid, .blob),
        // Git takes every other mode for a gitlink.
        else => {},
    }
    if (!isCanonicalMode(entry.mode)) sink.report(.badFilemode);
    if (entry.is_zero_padded) sink.report(.zeroPaddedFilemode);
    if (std.mem.allEqual(u8, entry.oid, 0)) sink.report(.nullSha1);
    if (entry.has_slash) sink.report(.fullPathname);
    if (entry.name.len > name_limit_bytes) sink.report(.largePathname);
    if (names.mayBeDisguised(entry.name[0])) checkDotfile(entry, sink);
    if (entry.has_backslash) checkBackslashes(entry, sink);
}

fn checkDotfile(entry: Entry, sink: anytype) void {
    const name = entry.name;
    if (std.mem.eql(u8, name, ".")) return sink.report(.hasDot);
    if (std.mem.eql(u8, name, "..")) return sink.report(.hasDotdot);
    if (names.isDotgit(name)) sink.report(.hasDotgit);
    if (Dotfile.gitmodules.matches(name)) checkGitmodules(entry, sink);
    if (Dotfile.gitattributes.matches(name)) {
        if (entry.isSymlink()) sink.report(.gitattributesSymlink) else sink.special(entry.oid, .gitattributes);
    }
    if (!entry.isSymlink()) return;
    if (Dotfile.gitignore.matches(name)) sink.report(.gitignoreSymlink);
    if (Dotfile.mailmap.matches(name)) sink.report(.mailmapSymlink);
}

fn checkGitmodules(entry: Entry, sink: anytype) void {
    if (entry.isSymlink()) sink.report(.gitmodulesSymlink) else sink.special(entry.oid, .gitmodules);
}

/// For NTFS a backslash begins another path component.
fn checkBackslashes(entry: Entry, sink: anytype) void {
    var rest = entry.name;
    while (std.mem.indexOfScalar(u8, rest, '\\')) |backslash| {
        rest = rest[backslash + 1 ..];
        if (names.isNtfsDotgit(rest)) sink.report(.hasDotgit);
        if (Dotfile.gitmodules.matchesNtfs(rest)) checkGitmodules(entry, sink);
    }
}

fn isCanonicalMode(mode: u16) bool {
    return switch (mode) {
        regular | 0o644, regular | 0o755, symlink, directory, gitlink => true,
        else => false,
    };
}

/// Checks that entries are sorted, a directory as if its name ended in a slash, and that names are
/// unique.
const Order = struct {
    /// The previous entry's; empty before the first.
    name: []const u8 = "",
    is_directory: bool = false,
    files: Files = .{},

    fn check(self: *Order, entry: Entry, sink: anytype) void {
        const is_directory = entry.mode & type_mask == directory;
        defer {
            self.name = entry.name;
            self.is_directory = is_directory;
        }
        if (self.name.len == 0) return;
        const common = commonLength(self.name, entry.name);
        if (common == self.name.len and common == entry.name.len) return sink.report(.duplicateEntries);
        const left = byteAfter(self.name, self.is_directory, common);
        const right = byteAfter(entry.name, is_directory, common);
        if (left >= right) sink.report(.treeNotSorted);

        // Names between a file and a directory with the same name must continue that name with a
        // byte below the slash.
        if (left == 0 and right < '/') {
            self.files.add(self.name);
        } else if (common == entry.name.len and right == '/' and left < '/' and self.files.has(entry.name)) {
            sink.report(.duplicateEntries);
        }
    }

    fn byteAfter(name: []const u8, is_directory: bool, common: usize) u8 {
        if (common < name.len) return name[common];
        return if (is_directory) '/' else 0;
    }
};

/// The files with which a later directory may share its name. In a sorted tree each of them is a
/// prefix of the next, so the longest name and the lengths of the others describe them all. (In an
/// unsorted tree git may find other duplicates, but that is `treeNotSorted` as well.) Names whose
/// length is a finding are not kept.
const Files = struct {
    longest: []const u8 = "",
    /// Bits up to `longest.len`: which of its prefixes are files.
    lengths: std.StaticBitSet(name_limit_bytes + 1) = .empty,

    fn add(self: *Files, name: []const u8) void {
        if (name.len > name_limit_bytes) return;
        self.lengths.setRangeValue(.{ .start = commonLength(self.longest, name) + 1, .end = name.len + 1 }, false);
        self.lengths.set(name.len);
        self.longest = name;
    }

    fn has(self: *const Files, name: []const u8) bool {
        return std.mem.startsWith(u8, self.longest, name) and self.lengths.isSet(name.len);
    }
};

fn commonLength(a: []const u8, b: []const u8) usize {
    const least = @min(a.len, b.len);
    for (a[0..least], b[0..least], 0..) |x, y, length| if (x != y) return length;
    return least;
}
