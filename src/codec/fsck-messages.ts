/** How grave git holds a finding of its fsck to be, where nothing is configured. @see git-fsck(1), "fsck.<msg-id>" */
export type FsckSeverity = "fatal" | "error" | "warn" | "info" | "ignore";

/** Which findings refuse an object, chosen for each repository: as git's receiving side does but for what old
 * histories are full of (`default`), that too (`strict`), or what git calls an error only (`lenient`). */
export type FsckSetting = "default" | "strict" | "lenient";

// The order, from the first row to the last, is that of `Message` in wasm/src/fsck/message.zig: a test compares them.
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

/** A kind of finding, by git's own name for it. */
export type FsckMessage = (typeof IDS)[FsckSeverity][number];

/** Every kind of finding, at its number: a mask of findings has bit `1n << number` for each. */
export const FSCK_MESSAGES: readonly FsckMessage[] = Object.values(IDS).flat();

/** Common in histories from before git checked, and harmless to read: only `strict` refuses them. */
const COMMON: readonly FsckMessage[] = ["badTimezone", "missingSpaceBeforeDate", "zeroPaddedFilemode"];

/** The findings that refuse an object under a setting, as a mask. What git calls `info` or `ignore` never does. */
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

/** The findings in a mask, by name, in the order of their numbers. */
export function listFindings(mask: bigint): FsckMessage[] {
  return FSCK_MESSAGES.filter((_, number) => ((mask >> BigInt(number)) & 1n) === 1n);
}
