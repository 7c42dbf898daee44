//! The findings of git's fsck on objects, by git's own message ids.

/// A kind of finding, with git's name; git-fsck(1) describes each. The numbers are bit positions in
/// the masks that are passed to JavaScript, where `src/base/codec/fsck-messages.ts` has the same order
/// and the severities.
///
/// Missing here: ids about references, and those that git itself cannot reach: an empty name is
/// already `badTree`, a header line without its newline already `unterminatedHeader`, and a pack
/// has no unknown types. They are `emptyName`, `missingTag`, `missingType`, `badGpgsig`,
/// `badHeaderContinuation`, `unknownType`.
pub const Message = enum(u6) {
    nulInHeader,
    unterminatedHeader,
    badDate,
    badDateOverflow,
    badEmail,
    badName,
    badObjectSha1,
    badParentSha1,
    badTimezone,
    badTree,
    badTreeSha1,
    badType,
    duplicateEntries,
    gitattributesBlob,
    gitattributesLarge,
    gitattributesLineLength,
    gitattributesMissing,
    gitmodulesBlob,
    gitmodulesLarge,
    gitmodulesMissing,
    gitmodulesName,
    gitmodulesPath,
    gitmodulesSymlink,
    gitmodulesUpdate,
    gitmodulesUrl,
    missingAuthor,
    missingCommitter,
    missingEmail,
    missingNameBeforeEmail,
    missingObject,
    missingSpaceBeforeDate,
    missingSpaceBeforeEmail,
    missingTagEntry,
    missingTree,
    missingTypeEntry,
    multipleAuthors,
    treeNotSorted,
    zeroPaddedDate,
    fullPathname,
    hasDot,
    hasDotdot,
    hasDotgit,
    largePathname,
    nullSha1,
    nulInCommit,
    zeroPaddedFilemode,
    badFilemode,
    badTagName,
    gitattributesSymlink,
    gitignoreSymlink,
    gitmodulesParse,
    mailmapSymlink,
    missingTaggerEntry,
    extraHeaderEntry,

    /// The message's bit in a mask of findings.
    pub fn bit(self: Message) u64 {
        return @as(u64, 1) << @intFromEnum(self);
    }
};
