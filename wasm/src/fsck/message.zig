//! The findings of git's fsck on objects, by git's own message ids.

/// One kind of finding, named as git names it; git-fsck(1) describes each.
/// The numbers are the bit positions of the masks that cross into JavaScript,
/// where `src/codec/fsck-messages.ts` keeps the same order and the severities.
///
/// Not here: ids about references, and those git itself cannot reach, because an empty name is
/// already `badTree`, a header line without its newline already `unterminatedHeader`, and a pack
/// has no unknown types: `emptyName`, `missingTag`, `missingType`, `badGpgsig`,
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
