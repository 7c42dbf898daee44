//! Header lines up to an empty line, and the identities in them: common to commits and tags.

const std = @import("std");
const sinks = @import("sink.zig");
const Message = @import("message.zig").Message;

/// The header of a commit or tag, read line by line from the front.
pub const Header = struct {
    rest: []const u8,

    /// Null after a finding: a NUL before the first empty line, or a header without a final
    /// newline.
    pub fn open(data: []const u8, sink: anytype) ?Header {
        const end = std.mem.indexOf(u8, data, "\n\n") orelse data.len;
        if (std.mem.indexOfScalar(u8, data[0..end], 0) != null) {
            sink.report(.nulInHeader);
            return null;
        }
        if (end == data.len and (end == 0 or data[end - 1] != '\n')) {
            sink.report(.unterminatedHeader);
            return null;
        }
        return .{ .rest = data };
    }

    /// The rest of the next line, without its newline, if the line begins with `key`; else null,
    /// and nothing is consumed.
    pub fn take(self: *Header, comptime key: []const u8) ?[]const u8 {
        if (!std.mem.startsWith(u8, self.rest, key)) return null;
        const end = std.mem.indexOfScalarPos(u8, self.rest, key.len, '\n') orelse return null;
        defer self.rest = self.rest[end + 1 ..];
        return self.rest[key.len..end];
    }
};

/// The object id in `hex`, which must contain nothing else.
pub fn parseOid(hex: []const u8) ?sinks.Oid {
    if (hex.len != sinks.oid_hex_bytes) return null;
    var oid: sinks.Oid = undefined;
    _ = std.fmt.hexToBytes(&oid, hex) catch return null;
    return oid;
}

const decimal_digits = "0123456789";

/// The fault of `Name <email> seconds +zone`, if any; git reports only the first. Git has one id
/// for a missing date and a missing space before the date. This distinguishes them, since old
/// histories have the second, and repositories may accept it.
pub fn identFault(line: []const u8) ?Message {
    const name_end = std.mem.indexOfAny(u8, line, "<>") orelse return .missingEmail;
    if (line[name_end] == '>') return .badName;
    if (name_end == 0) return .missingNameBeforeEmail;
    if (line[name_end - 1] != ' ') return .missingSpaceBeforeEmail;
    const email = line[name_end + 1 ..];
    const email_end = std.mem.indexOfAny(u8, email, "<>") orelse return .badEmail;
    if (email[email_end] == '<') return .badEmail;
    const after = email[email_end + 1 ..];
    if (std.mem.indexOfAny(u8, after, decimal_digits) == null) return .badDate;
    if (after[0] != ' ') return .missingSpaceBeforeDate;
    return dateFault(std.mem.trimStart(u8, after[1..], " \t"));
}

fn dateFault(date: []const u8) ?Message {
    const seconds_end = std.mem.indexOfNone(u8, date, decimal_digits) orelse date.len;
    if (seconds_end == 0) return .badDate;
    if (date[0] == '0' and (date.len == 1 or date[1] != ' ')) return .zeroPaddedDate;
    if (parseSeconds(date) > std.math.maxInt(i64)) return .badDateOverflow;
    if (seconds_end == date.len or date[seconds_end] != ' ') return .badDate;
    const zone = date[seconds_end + 1 ..];
    if (zone.len != 5 or (zone[0] != '+' and zone[0] != '-')) return .badTimezone;
    for (zone[1..]) |c| if (!std.ascii.isDigit(c)) return .badTimezone;
    return null;
}

/// The number at the start of `text`, saturated; 0 when there is none.
pub fn parseSeconds(text: []const u8) u64 {
    var seconds: u64 = 0;
    for (text) |c| {
        if (!std.ascii.isDigit(c)) break;
        seconds = seconds *| 10 +| (c - '0');
    }
    return seconds;
}

test identFault {
    const cases = .{
        .{ "A B <a@b> 1234567890 +0100", null },
        .{ " <> 0 -0000", null },
        .{ "A <a@b> \t 1 +0000", null },
        .{ "A <a@b> 9223372036854775807 +0000", null },
        .{ "<a@b> 1 +0000", .missingNameBeforeEmail },
        .{ "A B", .missingEmail },
        .{ "", .missingEmail },
        .{ "A> <a@b> 1 +0000", .badName },
        .{ "A<a@b> 1 +0000", .missingSpaceBeforeEmail },
        .{ "A <a@b 1 +0000", .badEmail },
        .{ "A <a<b> 1 +0000", .badEmail },
        .{ "A <B <a@b> 1 +0000", .badEmail },
        .{ "A <a@b>1 +0000", .missingSpaceBeforeDate },
        .{ "A <a@b>> 1 +0000", .missingSpaceBeforeDate },
        .{ "A <a@b>", .badDate },
        .{ "A <a@b>+", .badDate },
        .{ "A <a@b> ", .badDate },
        .{ "A <a@b> x +0000", .badDate },
        .{ "A <a@b> -1 +0000", .badDate },
        .{ "A <a@b> 12x +0000", .badDate },
        .{ "A <a@b> 12", .badDate },
        .{ "A <a@b> 01 +0000", .zeroPaddedDate },
        .{ "A <a@b> 0", .zeroPaddedDate },
        .{ "A <a@b> 9223372036854775808 +0000", .badDateOverflow },
        .{ "A <a@b> 99999999999999999999999999 +0000", .badDateOverflow },
        .{ "A <a@b> 1 0000", .badTimezone },
        .{ "A <a@b> 1 +000", .badTimezone },
        .{ "A <a@b> 1 +00000", .badTimezone },
        .{ "A <a@b> 1 +00x0", .badTimezone },
    };
    inline for (cases) |case| try std.testing.expectEqual(@as(?Message, case[1]), identFault(case[0]));
}
