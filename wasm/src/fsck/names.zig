//! Names of tree entries that some file system takes for `.git` or for a file with a meaning to
//! git. HFS+ folds case and skips certain code points; NTFS trims trailing spaces and periods, has
//! 8.3 short names (`git~1`) and streams (`.git::$INDEX_ALLOCATION`), and separates paths by `\`
//! too. Names are passed without their NUL.

const std = @import("std");
const ascii = std.ascii;

/// Whether a name with this first byte can be a disguise at all, which is rare.
pub fn mayBeDisguised(first: u8) bool {
    return switch (first) {
        '.', '~', 'g', 'G', 'm', 'M', 0x80...0xff => true,
        else => false,
    };
}

pub fn isDotgit(name: []const u8) bool {
    return isHfsDot(name, "git") or isNtfsDotgit(name);
}

/// `.git` or `git~1` as NTFS reads it, up to the first separator of a path or a stream.
pub fn isNtfsDotgit(name: []const u8) bool {
    const stem: usize = if (ascii.startsWithIgnoreCase(name, ".git"))
        4
    else if (ascii.startsWithIgnoreCase(name, "git~1"))
        5
    else
        return false;
    for (name[stem..]) |c| switch (c) {
        '/', '\\', ':' => return true,
        '.', ' ' => {},
        else => return false,
    };
    return true;
}

/// A file whose name begins with a period and has a meaning to git.
pub const Dotfile = struct {
    /// Without its period; more than six letters, in lower case.
    name: []const u8,
    /// The first six letters of the short name that NTFS uses once `~1` to `~4` are taken.
    hashed: *const [6]u8,

    pub const gitmodules: Dotfile = .{ .name = "gitmodules", .hashed = "gi7eba" };
    pub const gitattributes: Dotfile = .{ .name = "gitattributes", .hashed = "gi7d29" };
    pub const gitignore: Dotfile = .{ .name = "gitignore", .hashed = "gi250a" };
    pub const mailmap: Dotfile = .{ .name = "mailmap", .hashed = "maba30" };

    pub fn matches(self: Dotfile, name: []const u8) bool {
        return isHfsDot(name, self.name) or self.matchesNtfs(name);
    }

    pub fn matchesNtfs(self: Dotfile, name: []const u8) bool {
        if (name.len > 0 and name[0] == '.' and ascii.startsWithIgnoreCase(name[1..], self.name))
            return isTrimmed(name[1 + self.name.len ..]);
        if (ascii.startsWithIgnoreCase(name, self.name[0..6]) and at(name, 6) == '~' and at(name, 7) >= '1' and at(name, 7) <= '4')
            return isTrimmed(name[8..]);
        const short_bytes = self.hashedLength(name) orelse return false;
        return isTrimmed(name[short_bytes..]);
    }

    /// Length of such a short name at the start of `name`: some letters of `hashed`, a tilde, and
    /// digits (the first not 0), eight bytes together.
    fn hashedLength(self: Dotfile, name: []const u8) ?usize {
        const tilde = std.mem.indexOfScalar(u8, name[0..@min(name.len, 7)], '~') orelse return null;
        if (name.len < 8 or !ascii.eqlIgnoreCase(name[0..tilde], self.hashed[0..tilde])) return null;
        if (name[tilde + 1] == '0') return null;
        for (name[tilde + 1 .. 8]) |c| if (!ascii.isDigit(c)) return null;
        return 8;
    }
};

/// Whether NTFS drops all of `rest`: spaces and periods, to the end or to a stream's colon.
fn isTrimmed(rest: []const u8) bool {
    for (rest) |c| switch (c) {
        ':' => return true,
        '.', ' ' => {},
        else => return false,
    };
    return true;
}

/// Whether `name` is a period and `needle` (lower case) as HFS+ compares them, up to its end or to
/// a slash.
fn isHfsDot(name: []const u8, needle: []const u8) bool {
    var characters: HfsCharacters = .{ .rest = name };
    if (characters.next() != '.') return false;
    for (needle) |expected| {
        const c = characters.next();
        if (c > 0x7f or ascii.toLower(@intCast(c)) != expected) return false;
    }
    const last = characters.next();
    return last == 0 or last == '/';
}

/// Code points as HFS+ sees them; 0 at the end and, like git, at malformed UTF-8.
const HfsCharacters = struct {
    rest: []const u8,

    fn next(self: *HfsCharacters) u21 {
        while (self.rest.len > 0) {
            const bytes = std.unicode.utf8ByteSequenceLength(self.rest[0]) catch return 0;
            if (bytes > self.rest.len) return 0;
            const c = std.unicode.utf8Decode(self.rest[0..bytes]) catch return 0;
            self.rest = self.rest[bytes..];
            if (c == 0xfffe or c == 0xffff) return 0;
            if (!isIgnored(c)) return c;
        }
        return 0;
    }

    fn isIgnored(c: u21) bool {
        return switch (c) {
            0x200c...0x200f, 0x202a...0x202e, 0x206a...0x206f, 0xfeff => true,
            else => false,
        };
    }
};

fn at(name: []const u8, index: usize) u8 {
    return if (index < name.len) name[index] else 0;
}

const expect = std.testing.expect;

test "disguises of .git" {
    for ([_][]const u8{
        ".git",                    ".GIT",         ".giT",         ".git.",          ".git ",    ".git . . ",
        ".git::$INDEX_ALLOCATION", ".git:stream",  "git~1",        "GIT~1 .",        "git~1:x",  ".git\\config",
        ".g\u{200c}it",            "\u{feff}.git", ".git\u{206f}", ".gi\u{202e}t/x", ".git\xff",
    }) |name| {
        try expect(mayBeDisguised(name[0]));
        try expect(isDotgit(name));
    }
    for ([_][]const u8{ ".gi", ".gitx", ".git x", "git~2", "git~10", "git", ".gît", "", "\u{2010}.git", ".g\xffit", " .git" }) |name|
        try expect(!isDotgit(name));
}

test "disguises of .gitmodules" {
    for ([_][]const u8{
        ".gitmodules", ".GITMODULES",         ".gitmodules ",    ".gitmodules.:x", "gitmod~1", "GITMOD~4. ", "gi7eba~1", "GI7EB~10", "g~123456",
        "~1000000",    ".git\u{200d}modules", ".gitmodules\xff",
    }) |name| {
        try expect(mayBeDisguised(name[0]));
        try expect(Dotfile.gitmodules.matches(name));
    }
    for ([_][]const u8{ "gitmod~5", "gi7eba~0", "gi7eb~1", "gi7d29~1", ".gitmodules~1", ".gitmodule", "gi7eba~1x", "gi7ebax~1", "~100000", "" }) |name|
        try expect(!Dotfile.gitmodules.matches(name));
    try expect(Dotfile.gitattributes.matches("gitatt~1"));
    try expect(Dotfile.gitignore.matches("GI250A~9"));
    try expect(Dotfile.mailmap.matches("mailma~1"));
}
