import { type FsckMessage, FSCK_MESSAGES, maskRefused } from "./fsck-messages.ts";

/** What each finding means, to follow "object … fails fsck: <finding>:".
 * @see git-fsck(1), "FSCK MESSAGES" */
const MEANINGS: Readonly<Record<FsckMessage, string>> = {
  badDate: "a date in it is not a number of seconds",
  badDateOverflow: "a date in it is later than any that git can read",
  badEmail: "an e-mail address in it does not end in >",
  badFilemode: "a file in the tree has a mode that git does not know",
  badName: "a person's name in it contains < or >",
  badObjectSha1: "the tag's object line is not an object id",
  badParentSha1: "a parent line is not an object id",
  badTagName: "the tag's name is not a valid ref name",
  badTimezone: "a time zone in it does not have the form +hhmm",
  badTree: "the tree cannot be read: an entry is broken",
  badTreeSha1: "the commit's tree line is not an object id",
  badType: "the tag's type line is not an object type",
  duplicateEntries: "the tree has two entries with the same name",
  extraHeaderEntry: "it has a header that git does not know",
  fullPathname: "a name in the tree contains a slash",
  gitattributesBlob: ".gitattributes is not a file",
  gitattributesLarge: ".gitattributes is too large to be read",
  gitattributesLineLength: ".gitattributes has a line of more than 2,048 bytes",
  gitattributesMissing: ".gitattributes cannot be read",
  gitattributesSymlink: ".gitattributes is a symbolic link",
  gitignoreSymlink: ".gitignore is a symbolic link",
  gitmodulesBlob: ".gitmodules is not a file",
  gitmodulesLarge: ".gitmodules is too large to be read",
  gitmodulesMissing: ".gitmodules cannot be read",
  gitmodulesName: ".gitmodules has a submodule whose name points outside of its directory",
  gitmodulesParse: ".gitmodules is not a valid configuration file",
  gitmodulesPath: ".gitmodules has a path that a command would take for an option",
  gitmodulesSymlink: ".gitmodules is a symbolic link",
  gitmodulesUpdate: ".gitmodules has an update command, which a clone would run",
  gitmodulesUrl: ".gitmodules has a URL that a command would take for an option, or that hides a line break",
  hasDot: "the tree has an entry named .",
  hasDotdot: "the tree has an entry named .., which would point outside of the directory",
  hasDotgit: "the tree has an entry that some file systems take for .git, so that a checkout would write into it",
  largePathname: "a name in the tree is longer than 4,096 bytes",
  mailmapSymlink: ".mailmap is a symbolic link",
  missingAuthor: "the commit has no author",
  missingCommitter: "the commit has no committer",
  missingEmail: "a person in it has no e-mail address",
  missingNameBeforeEmail: "a person in it has no name",
  missingObject: "the tag does not name its object",
  missingSpaceBeforeDate: "there is no space before a date in it",
  missingSpaceBeforeEmail: "there is no space before an e-mail address in it",
  missingTagEntry: "the tag has no name",
  missingTaggerEntry: "the tag has no tagger",
  missingTree: "the commit does not name its tree",
  missingTypeEntry: "the tag does not state the type of its object",
  multipleAuthors: "the commit has several authors",
  nulInCommit: "the commit's message contains a NUL byte",
  nulInHeader: "its header contains a NUL byte",
  nullSha1: "the tree has an entry whose id is all zeros",
  treeNotSorted: "the tree's entries are not sorted",
  unterminatedHeader: "its header does not end",
  zeroPaddedDate: "a date in it begins with zeros",
  zeroPaddedFilemode: "a mode in the tree begins with zeros, as some old tools wrote it",
};

const LENIENT = "an admin of the repository may push it with `git push -o fsck=lenient`";
const REWRITE = "no setting accepts it: rewrite the history without it, for example with git filter-repo";

/** Says what a finding means, and what the user can do.
 * @returns text to follow the finding's name */
export function explainFinding(id: FsckMessage): string {
  const isLenient = ((maskRefused("lenient") >> BigInt(FSCK_MESSAGES.indexOf(id))) & 1n) === 0n;
  return `${MEANINGS[id]}; ${isLenient ? LENIENT : REWRITE}`;
}
