//! fsck of a commit: `tree`, `parent`s, `author`, `committer`, then any other headers, an empty
//! line and the message.

const std = @import("std");
const header = @import("header.zig");

/// Checks a commit; reports its tree, its parents and its commit time.
pub fn check(data: []const u8, sink: anytype) void {
    var lines = header.Header.open(data, sink) orelse return;

    const tree = lines.take("tree ") orelse return sink.report(.missingTree);
    sink.edge(&(header.parseOid(tree) orelse return sink.report(.badTreeSha1)), .tree);
    while (lines.take("parent ")) |parent|
        sink.edge(&(header.parseOid(parent) orelse return sink.report(.badParentSha1)), .commit);

    var author_count: usize = 0;
    while (lines.take("author ")) |author| : (author_count += 1)
        if (header.identFault(author)) |fault| sink.report(fault);
    if (author_count < 1) sink.report(.missingAuthor);
    if (author_count > 1) sink.report(.multipleAuthors);

    const committer = lines.take("committer ") orelse return sink.report(.missingCommitter);
    if (header.identFault(committer)) |fault| sink.report(fault);
    sink.commitTime(committerSeconds(committer));

    if (std.mem.indexOfScalar(u8, data, 0) != null) sink.report(.nulInCommit);
}

/// The commit time as git's history walks read it: leniently, after the last `>`.
fn committerSeconds(line: []const u8) u64 {
    const email_end = std.mem.lastIndexOfScalar(u8, line, '>') orelse return 0;
    return header.parseSeconds(std.mem.trimStart(u8, line[email_end + 1 ..], " \t\r"));
}
