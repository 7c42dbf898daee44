//! Whether git would clone a submodule from a URL safely: it must not be an option in disguise, nor
//! become a newline or another host on its way to git-remote-curl (CVE-2018-17456, CVE-2020-5260,
//! CVE-2020-11008).

const std = @import("std");
const mem = std.mem;

pub fn isAllowed(url: []const u8) bool {
    if (mem.startsWith(u8, url, "-")) return false;
    const tail = skipDots(url);
    if (tail.len < url.len or mem.startsWith(u8, url, "git://")) {
        // A relative URL is appended to one that may be an HTTP URL.
        if (hasNewline(url)) return false;
        const escapes = climbs(url) and (mem.startsWith(u8, tail, ":") or mem.startsWith(u8, tail, "/"));
        return !escapes;
    }
    return isAllowedByCurl(curlUrl(url) orelse return true);
}

/// `url` without its leading `./` and `../`, written with either slash.
fn skipDots(url: []const u8) []const u8 {
    var rest = url;
    while (leadingDots(rest)) |bytes| rest = rest[bytes..];
    return rest;
}

fn climbs(url: []const u8) bool {
    var rest = url;
    while (leadingDots(rest)) |bytes| : (rest = rest[bytes..]) if (bytes == "../".len) return true;
    return false;
}

fn leadingDots(url: []const u8) ?usize {
    for ([_][]const u8{ "./", ".\\", "../", "..\\" }) |dots| if (mem.startsWith(u8, url, dots)) return dots.len;
    return null;
}

/// Whether `url` contains a newline once percent escapes are decoded; git decodes none before the
/// first colon.
fn hasNewline(url: []const u8) bool {
    if (mem.indexOfScalar(u8, url, '\n') != null) return true;
    const encoded = url[mem.indexOfScalar(u8, url, ':') orelse 0 ..];
    return std.ascii.indexOfIgnoreCase(encoded, "%0a") != null;
}

/// What git-remote-curl would receive for `url`, if it would fetch it.
fn curlUrl(url: []const u8) ?[]const u8 {
    for ([_][]const u8{ "http", "https", "ftp", "ftps" }) |scheme| {
        if (!mem.startsWith(u8, url, scheme)) continue;
        const rest = url[scheme.len..];
        if (mem.startsWith(u8, rest, "::")) return rest[2..];
        if (mem.startsWith(u8, rest, "://")) return url;
    }
    return null;
}

/// Whether git can normalize `url`, without a newline in it. Stricter than git in one respect: a
/// newline also counts in a path segment that a later `..` removes.
fn isAllowedByCurl(url: []const u8) bool {
    const scheme_bytes = mem.indexOf(u8, url, "://") orelse return false;
    if (scheme_bytes == 0 or !std.ascii.isAlphabetic(url[0])) return false;
    for (url[0..scheme_bytes]) |c| if (!std.ascii.isAlphanumeric(c) and mem.indexOfScalar(u8, "+.-", c) == null) return false;
    const is_file = std.ascii.eqlIgnoreCase(url[0..scheme_bytes], "file");

    const rest = url[scheme_bytes + "://".len ..];
    const authority_end = mem.indexOfAny(u8, rest, "/?#") orelse rest.len;
    var host = rest[0..authority_end];
    if (mem.indexOfScalar(u8, host, '@')) |user_end| {
        if (measure(host[0..user_end]) == null) return false;
        host = host[user_end + 1 ..];
    }
    return isAllowedHost(host, is_file) and isAllowedPath(rest[authority_end..]);
}

/// A host, which only `file:` may omit, and an optional port from 1 to 65535.
fn isAllowedHost(host_and_port: []const u8, is_file: bool) bool {
    const is_empty = host_and_port.len == 0 or host_and_port[0] == ':';
    if (is_empty and !is_file) return false;
    const separator = mem.lastIndexOfAny(u8, host_and_port, ":]");
    const has_port = separator != null and host_and_port[separator.?] == ':';
    const host = if (has_port) host_and_port[0..separator.?] else host_and_port;
    for (host) |c| if (!std.ascii.isAlphanumeric(c) and mem.indexOfScalar(u8, ".-_[:]", c) == null) return false;
    if (!has_port) return true;
    const port = host_and_port[separator.? + 1 ..];
    if (port.len == 0) return true;
    if (is_empty) return false;
    const digits = mem.trimStart(u8, port, "0");
    if (digits.len > 5) return false;
    for (digits) |c| if (!std.ascii.isDigit(c)) return false;
    const number = std.fmt.parseInt(u32, digits, 10) catch 0;
    return number >= 1 and number <= 65535;
}

/// A path, whose `..` must not climb above its root, with optional query and fragment.
fn isAllowedPath(path: []const u8) bool {
    const end = mem.indexOfAny(u8, path, "?#") orelse path.len;
    if (measure(path[end..]) == null) return false;
    var depth: usize = 0;
    var segments = mem.splitScalar(u8, if (mem.startsWith(u8, path, "/")) path[1..end] else path[0..end], '/');
    while (segments.next()) |segment| {
        const shape = measure(segment) orelse return false;
        if (shape.is_dots and shape.bytes == 1) continue;
        if (shape.is_dots and shape.bytes == 2) {
            if (depth == 0) return false;
            depth -= 1;
        } else depth += 1;
    }
    return true;
}

const Shape = struct {
    /// Decoded length.
    bytes: usize = 0,
    /// Only periods, once decoded.
    is_dots: bool = true,
};

/// Null if a percent escape is incomplete or decodes to a newline, or if the text contains a
/// newline.
fn measure(text: []const u8) ?Shape {
    var shape: Shape = .{};
    var at: usize = 0;
    while (at < text.len) : (shape.bytes += 1) {
        var c = text[at];
        if (c == '%') {
            if (text.len - at < 3) return null;
            const high = std.fmt.charToDigit(text[at + 1], 16) catch return null;
            const low = std.fmt.charToDigit(text[at + 2], 16) catch return null;
            c = high << 4 | low;
            at += 2;
        }
        at += 1;
        if (c == '\n') return null;
        if (c != '.') shape.is_dots = false;
    }
    return shape;
}

test isAllowed {
    for ([_][]const u8{
        "https://example.com/a.git", "http://u:p@[::1]:8080/a%20b?q#f", "../a",                  "./a%0b",        ".\\..\\a",          "git://h/a",       "ssh://h/%0a", "h:%0a",
        "https://h:",                "https://h:0443/",                 "https://h/a/b/../../c", "https://h/./a", "http::https://h/a", "http::file:///a", "",            "%0a",
        "a/../..",                   "https://h//..",                   "../a:b",                "ftp://h",       "https://h/a%2fb",
    }) |url| {
        errdefer std.debug.print("{s}\n", .{url});
        try std.testing.expect(isAllowed(url));
    }
    for ([_][]const u8{
        "-u",               "../%0a",            "./a%0Ab",       "git://h/%0a",   "..\\a\n",        "../:a",        "../../:a",         "..//a",         ".././/a",
        "https://h/%0a",    "https://%0a@h/",    "https://h%0a/", "https:///a",    "https://:80/a",  "https://h:0/", "https://h:65536/", "https://h:8x/", "https://h/../",
        "https://h/%2e%2e", "https://h/a/../..", "https://h/%",   "https://h/%g0", "https://h/?%0a", "http::h",      "https::http:/h",   "http::1://h",   "http::file://:80/a",
        "https://h h/",
    }) |url| {
        errdefer std.debug.print("{s}\n", .{url});
        try std.testing.expect(!isAllowed(url));
    }
}
