//! fsck of a `.gitmodules` blob: a git-config(5) file in which no submodule may have a name, URL,
//! path or update rule that could be used to attack a client.

const std = @import("std");
const ascii = std.ascii;
const Text = @import("text.zig").Text;
const submodule_url = @import("submodule_url.zig");

const byte_order_mark = "\u{feff}";

/// Checks the content of a `.gitmodules`. Like git, stops at the first line that is not valid
/// configuration (`gitmodulesParse`, which refuses nothing by itself, since clients stop there
/// too).
///
/// Stricter than git where git's fsck sees less than a client would: fsck stops at a byte 0xff and
/// does not skip a byte order mark. Where it would cut a name at a NUL, the name is refused.
pub fn check(data: []const u8, sink: anytype) void {
    var parser: Parser = .{ .rest = if (std.mem.startsWith(u8, data, byte_order_mark)) data[byte_order_mark.len..] else data };
    parser.run(sink) catch sink.report(.gitmodulesParse);
}

const Malformed = error{Malformed};

const Parser = struct {
    rest: []const u8,
    /// Whether keys belong to a submodule, and if so whether its name is a finding.
    in_submodule: bool = false,
    is_name_bad: bool = false,
    text: Text = .{},

    fn run(self: *Parser, sink: anytype) Malformed!void {
        while (self.peek()) |c| switch (c) {
            ' ', '\t', '\r', '\n' => _ = self.next(),
            '#', ';' => self.skipLine(),
            '[' => try self.readSection(),
            else => if (ascii.isAlphabetic(c)) try self.readVariable(sink) else return error.Malformed,
        };
    }

    /// The next byte, with CR LF as one LF; null at the end.
    fn peek(self: *const Parser) ?u8 {
        if (self.rest.len == 0) return null;
        return if (std.mem.startsWith(u8, self.rest, "\r\n")) '\n' else self.rest[0];
    }

    fn next(self: *Parser) ?u8 {
        const c = self.peek() orelse return null;
        self.rest = self.rest[if (c == '\n' and self.rest[0] == '\r') 2 else 1..];
        return c;
    }

    fn skipLine(self: *Parser) void {
        while (self.next()) |c| if (c == '\n') return;
    }

    /// `[section]`, `[section.subsection]` or `[section "subsection"]`.
    fn readSection(self: *Parser) Malformed!void {
        self.text.clear();
        _ = self.next();
        while (true) switch (self.next() orelse return error.Malformed) {
            ']' => break,
            '\n' => return error.Malformed,
            ' ', '\t', '\r' => break try self.readSubsection(),
            else => |c| {
                if (!isKeyByte(c) and c != '.') return error.Malformed;
                self.text.append(ascii.toLower(c));
            },
        };
        if (self.text.len == 0) return error.Malformed;
        const prefix = "submodule.";
        self.in_submodule = std.mem.startsWith(u8, self.text.kept(), prefix);
        if (self.in_submodule) self.is_name_bad = self.text.isCut() or !isAllowedName(self.text.kept()[prefix.len..]);
    }

    fn readSubsection(self: *Parser) Malformed!void {
        while (self.next()) |c| switch (c) {
            ' ', '\t', '\r' => {},
            '"' => break,
            else => return error.Malformed,
        } else return error.Malformed;
        self.text.append('.');
        while (self.next()) |c| switch (c) {
            '\n' => return error.Malformed,
            '"' => break,
            '\\' => {
                const escaped = self.next() orelse return error.Malformed;
                if (escaped == '\n') return error.Malformed;
                self.text.append(escaped);
            },
            else => self.text.append(c),
        } else return error.Malformed;
        if (self.next() != ']') return error.Malformed;
    }

    /// `key` or `key = value`.
    fn readVariable(self: *Parser, sink: anytype) Malformed!void {
        const start = self.rest;
        while (self.peek()) |c| if (isKeyByte(c)) {
            _ = self.next();
        } else break;
        const key = start[0 .. start.len - self.rest.len];
        while (self.peek()) |c| if (c == ' ' or c == '\t') {
            _ = self.next();
        } else break;

        var has_value = false;
        if (self.next()) |c| {
            if (c == '=') {
                has_value = true;
                try self.readValue();
            } else if (c != '\n') return error.Malformed;
        }
        if (!self.in_submodule) return;
        if (self.is_name_bad) sink.report(.gitmodulesName);
        if (has_value) self.checkValue(key, sink);
    }

    fn checkValue(self: *const Parser, key: []const u8, sink: anytype) void {
        const value = std.mem.sliceTo(self.text.kept(), 0);
        if (ascii.eqlIgnoreCase(key, "url") and (self.text.isCut() or !submodule_url.isAllowed(value))) sink.report(.gitmodulesUrl);
        if (ascii.eqlIgnoreCase(key, "path") and std.mem.startsWith(u8, value, "-")) sink.report(.gitmodulesPath);
        if (ascii.eqlIgnoreCase(key, "update") and std.mem.startsWith(u8, value, "!")) sink.report(.gitmodulesUpdate);
    }

    /// Reads a value into `text`: resolves quotes and escapes, removes comments and surrounding
    /// blanks.
    fn readValue(self: *Parser) Malformed!void {
        self.text.clear();
        var is_quoted = false;
        // Length without trailing blanks at the end of the line; 0: nothing to trim.
        var trimmed_bytes: usize = 0;
        while (self.next()) |c| {
            if (c == '\n') {
                if (is_quoted) return error.Malformed;
                break;
            }
            if (!is_quoted) switch (c) {
                ' ', '\t', '\r' => {
                    if (trimmed_bytes == 0) trimmed_bytes = self.text.len;
                    if (self.text.len > 0) self.text.append(c);
                    continue;
                },
                '#', ';' => break self.skipLine(),
                else => {},
            };
            trimmed_bytes = 0;
            switch (c) {
                '"' => is_quoted = !is_quoted,
                '\\' => switch (self.next() orelse '\n') {
                    '\n' => {},
                    't' => self.text.append('\t'),
                    'b' => self.text.append(0x08),
                    'n' => self.text.append('\n'),
                    '\\' => self.text.append('\\'),
                    '"' => self.text.append('"'),
                    else => return error.Malformed,
                },
                else => self.text.append(c),
            }
        } else if (is_quoted) return error.Malformed;
        if (trimmed_bytes > 0) self.text.cut(trimmed_bytes);
    }
};

fn isKeyByte(c: u8) bool {
    return ascii.isAlphanumeric(c) or c == '-';
}

/// A submodule's name is a path below `.git/modules`: it must not leave it, on any system.
fn isAllowedName(name: []const u8) bool {
    if (name.len == 0 or std.mem.indexOfScalar(u8, name, 0) != null) return false;
    var components = std.mem.splitAny(u8, name, "/\\");
    while (components.next()) |component| if (std.mem.eql(u8, component, "..")) return false;
    return true;
}
