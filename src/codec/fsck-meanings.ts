import { type FsckMessage, FSCK_MESSAGES, maskRefused } from "./fsck-messages.ts";

/** What each finding means, to go on behind "object … fails fsck: <finding>:". @see git-fsck(1), "FSCK MESSAGES" */
const MEANINGS: Readonly<Record<FsckMessage, string>> = {
  badDate: "a date in it is no number of seconds",
  badDateOverflow: "a date in it is later than any that git can read",
  badEmail: "an e-mail address in it does not end in >",
  badFilemode: "a file in the tree has a mode that git does not know",
  badName: "a person's name in it has a < or >",
  badObjectSha1: "the tag's object line is no id",
  badParentSha1: "a parent line is no id",
  badTagName: "the tag's name is no name of a ref",
  badTimezone: "a time zone in it is not of the form +hhmm",
  badTree: "the tree cannot be read: an entry is broken",
  badTreeSha1: "the commit's tree line is no id",
  badType: "the tag's type line names no type of object",
  duplicateEntries: "the tree has two entries of one name",
  extraHeaderEntry: "it has a header that git does not know",
  fullPathname: "a name in the tree has a slash in it",
  gitattributesBlob: ".gitattributes is no file",
  gitattributesLarge: ".gitattributes is too large to be read",
  gitattributesLineLength: ".gitattributes has a line of more than 2,048 bytes",
  gitattributesMissing: ".gitattributes cannot be read",
  gitattributesSymlink: ".gitattributes is a symbolic link",
  gitignoreSymlink: ".gitignore is a symbolic link",
  gitmodulesBlob: ".gitmodules is no file",
  gitmodulesLarge: ".gitmodules is too large to be read",
  gitmodulesMissing: ".gitmodules cannot be read",
  gitmodulesName: ".gitmodules has a submodule whose name leads out of its folder",
  gitmodulesParse: ".gitmodules is no configuration file",
  gitmodulesPath: ".gitmodules has a path that would pass for an option of a command",
  gitmodulesSymlink: ".gitmodules is a symbolic link",
  gitmodulesUpdate: ".gitmodules has an update command, which a clone would run",
  gitmodulesUrl: ".gitmodules has a URL that would pass for an option of a command, or hides a line break",
  hasDot: "the tree has an entry named .",
  hasDotdot: "the tree has an entry named .., which would lead out of the folder",
  hasDotgit: "the tree has an entry that some file system takes for .git, so that a checkout would write there",
  largePathname: "a name in the tree is longer than 4,096 bytes",
  mailmapSymlink: ".mailmap is a symbolic link",
  missingAuthor: "the commit has no author",
  missingCommitter: "the commit has no committer",
  missingEmail: "a person in it has no e-mail address",
  missingNameBeforeEmail: "a person in it has no name",
  missingObject: "the tag does not say of which object it is",
  missingSpaceBeforeDate: "there is no space before a date in it",
  missingSpaceBeforeEmail: "there is no space before an e-mail address in it",
  missingTagEntry: "the tag does not say its name",
  missingTaggerEntry: "the tag has no tagger",
  missingTree: "the commit does not say its tree",
  missingTypeEntry: "the tag does not say of which type its object is",
  multipleAuthors: "the commit has several authors",
  nulInCommit: "the commit's message has a NUL byte in it",
  nulInHeader: "a NUL byte is in its header",
  nullSha1: "the tree has an entry whose id is all zeros",
  treeNotSorted: "the tree's entries are not in order",
  unterminatedHeader: "its header does not end",
  zeroPaddedDate: "a date in it begins with zeros",
  zeroPaddedFilemode: "a mode in the tree begins with zeros, as some old tools wrote it",
};

const LENIENT = "an admin of the repository may push it with `git push -o fsck=lenient`";
const REWRITE = "no setting lets it pass: write the history anew without it, for example with git filter-repo";

/** Says what a finding means, and what its finder can do.
 * @returns to go on behind the finding's name */
export function explainFinding(id: FsckMessage): string {
  const isLenient = ((maskRefused("lenient") >> BigInt(FSCK_MESSAGES.indexOf(id))) & 1n) === 0n;
  return `${MEANINGS[id]}; ${isLenient ? LENIENT : REWRITE}`;
}
