/** Git's default severity of an fsck finding. @see git-fsck(1), "fsck.<msg-id>" */
type FsckSeverity = "fatal" | "error" | "warn" | "info" | "ignore";

/** Which findings refuse an object, configured per repository: those that git's receiving side
 * refuses, except for ones common in old histories (`default`), those too (`strict`), or only what
 * git calls an error (`lenient`). */
export type FsckSetting = "default" | "strict" | "lenient";

// The order, from the first row to the last, is that of `Message` in wasm/src/fsck/message.zig; a
// test compares them.
const IDS = {
  fatal: ["nulInHeader", "unterminatedHeader"],
  error: [
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badObjectSha1",
    "badParentSha1",
    "badTimezone",
    "badTree",
    "badTreeSha1",
    "badType",
    "duplicateEntries",
    "gitattributesBlob",
    "gitattributesLarge",
    "gitattributesLineLength",
    "gitattributesMissing",
    "gitmodulesBlob",
    "gitmodulesLarge",
    "gitmodulesMissing",
    "gitmodulesName",
    "gitmodulesPath",
    "gitmodulesSymlink",
    "gitmodulesUpdate",
    "gitmodulesUrl",
    "missingAuthor",
    "missingCommitter",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingObject",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTagEntry",
    "missingTree",
    "missingTypeEntry",
    "multipleAuthors",
    "treeNotSorted",
    "zeroPaddedDate",
  ],
  warn: [
    "fullPathname",
    "hasDot",
    "hasDotdot",
    "hasDotgit",
    "largePathname",
    "nullSha1",
    "nulInCommit",
    "zeroPaddedFilemode",
  ],
  info: [
    "badFilemode",
    "badTagName",
    "gitattributesSymlink",
    "gitignoreSymlink",
    "gitmodulesParse",
    "mailmapSymlink",
    "missingTaggerEntry",
  ],
  ignore: ["extraHeaderEntry"],
} as const satisfies Record<FsckSeverity, readonly string[]>;

/** A kind of finding, by git's name. */
export type FsckMessage = (typeof IDS)[FsckSeverity][number];

/** All kinds of findings by number: a mask has bit `1n << number` for each. */
export const FSCK_MESSAGES: readonly FsckMessage[] = Object.values(IDS).flat();

/** Common in histories older than git's checks, and harmless: only `strict` refuses them. */
const COMMON: readonly FsckMessage[] = ["badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode"];

/** The findings that a setting refuses, as a mask. It never includes what git calls `info` or
 * `ignore`. */
export function maskRefused(setting: FsckSetting): bigint {
  return REFUSED[setting];
}

function findRefused(setting: FsckSetting): bigint {
  const severities: readonly FsckSeverity[] = setting === "lenient" ? ["fatal", "error"] : ["fatal", "error", "warn"];
  const refused = severities
    .flatMap((severity): readonly FsckMessage[] => IDS[severity])
    .filter((id) => setting === "strict" || !COMMON.includes(id));
  return refused.reduce((mask, id) => mask | (1n << BigInt(FSCK_MESSAGES.indexOf(id))), 0n);
}

const REFUSED: Readonly<Record<FsckSetting, bigint>> = {
  default: findRefused("default"),
  strict: findRefused("strict"),
  lenient: findRefused("lenient"),
};

/** The names of the findings in a mask, in the order of their numbers. */
export function listFindings(mask: bigint): FsckMessage[] {
  return FSCK_MESSAGES.filter((_, number) => ((mask >> BigInt(number)) & 1n) === 1n);
}
