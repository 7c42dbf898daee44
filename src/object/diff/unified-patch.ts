import { formatMode } from "../../base/format/tree.ts";
import { NULL_OID_HEX, toHex } from "../../base/format/oid.ts";
import { ByteWriter } from "./byte-writer.ts";
import { type FileChange, statusOf } from "./file-change.ts";
import { diffSplitLines, type LineChange } from "../../base/lines/line-diff.ts";
import { splitLines, type TextLines, isBinary } from "../../base/lines/text-lines.ts";
import { writeHunks } from "./unified-hunks.ts";

/** Lines around each change that `git diff` shows. */
const CONTEXT_LINES = 3;

/** A changed file with its old and new content; empty where that side has no file. */
export interface ChangedContent {
  readonly change: FileChange;
  readonly old: Uint8Array;
  readonly next: Uint8Array;
}

/** How a patch is written. */
export interface PatchOptions {
  /** Makes a zlib stream. With it, the patch contains binary files (`git diff --binary`, but always
   * whole, never as deltas). Without it, the patch only says that they differ. */
  readonly deflate?: (content: Uint8Array) => Uint8Array;
  /** Whether lines are equal that differ only in blanks, as with `git diff -w`. */
  readonly ignoresBlanks?: boolean;
}

/** A file's part of a patch. */
interface FilePatch {
  /** As `git diff --full-index` prints it. */
  readonly bytes: Uint8Array;
  /** Lines as `git diff --numstat` counts them; 0 for a binary file. */
  readonly additions: number;
  readonly deletions: number;
  readonly isBinary: boolean;
}

/** Compares two contents and makes the file's part of a patch. */
export function formatPatch(changed: ChangedContent, options: PatchOptions = {}): FilePatch {
  const into = new ByteWriter();
  const counts = appendPatch(into, changed, options);
  return { bytes: into.finish(), ...counts };
}

/** Compares two contents and appends the file's part to a patch. */
export function appendPatch(
  into: ByteWriter,
  { change, old, next }: ChangedContent,
  options: PatchOptions,
): Omit<FilePatch, "bytes"> {
  const comparison = compareContents(old, next, options);
  if (statusOf(change) === "T") {
    // A file whose type changed is deleted, then added.
    writePatch(into, { ...change, next: null }, compareContents(old, NOTHING, options), options);
    writePatch(into, { ...change, old: null }, compareContents(NOTHING, next, options), options);
  } else writePatch(into, change, comparison, options);
  return {
    additions: comparison.changes.reduce((sum, { nextLines }) => sum + nextLines, 0),
    deletions: comparison.changes.reduce((sum, { oldLines }) => sum + oldLines, 0),
    isBinary: comparison.isBinary,
  };
}

const NOTHING = new Uint8Array(0);

interface Comparison {
  readonly old: TextLines;
  readonly next: TextLines;
  readonly isBinary: boolean;
  /** Empty if a side is binary. */
  readonly changes: readonly LineChange[];
}

function compareContents(
  oldBytes: Uint8Array,
  nextBytes: Uint8Array,
  { ignoresBlanks = false }: PatchOptions,
): Comparison {
  const old = splitLines(oldBytes);
  const next = splitLines(nextBytes);
  const binary = isBinary(oldBytes) || isBinary(nextBytes);
  const isSame = binary || oldBytes === nextBytes;
  return { old, next, isBinary: binary, changes: isSame ? [] : diffSplitLines(old, next, { ignoresBlanks }) };
}

/** @see git's diff.c: builtin_diff(), fill_metadata_msg() */
function writePatch(into: ByteWriter, change: FileChange, compared: Comparison, { deflate }: PatchOptions): void {
  const { old, next } = change;
  const oldName = quotePath(`a/${change.oldPath}`);
  const name = quotePath(`b/${change.path}`);
  const lines = [`diff --git ${oldName} ${name}`];
  if (old === null) lines.push(`new file mode ${formatMode(next!.mode)}`);
  else if (next === null) lines.push(`deleted file mode ${formatMode(old.mode)}`);
  else if (old.mode !== next.mode) lines.push(`old mode ${formatMode(old.mode)}`, `new mode ${formatMode(next.mode)}`);
  if (change.similarity !== null) {
    lines.push(
      `similarity index ${change.similarity}%`,
      `rename from ${quotePath(change.oldPath)}`,
      `rename to ${quotePath(change.path)}`,
    );
  }
  const oldId = old === null ? NULL_OID_HEX : toHex(old.oid);
  const id = next === null ? NULL_OID_HEX : toHex(next.oid);
  if (oldId !== id) lines.push(`index ${oldId}..${id}${old?.mode === next?.mode ? ` ${formatMode(next!.mode)}` : ""}`);
  into.writeByteString(`${lines.join("\n")}\n`);
  if (oldId === id) return;

  const oldLabel = old === null ? "/dev/null" : oldName;
  const label = next === null ? "/dev/null" : name;
  if (!compared.isBinary) {
    if (compared.changes.length === 0) return;
    into.writeByteString(`--- ${withTab(oldLabel)}\n+++ ${withTab(label)}\n`);
    writeHunks(into, compared.old, compared.next, compared.changes, CONTEXT_LINES);
  } else if (deflate === undefined) into.writeByteString(`Binary files ${oldLabel} and ${label} differ\n`);
  else {
    into.writeByteString("GIT binary patch\n");
    for (const { bytes } of [compared.next, compared.old]) {
      into.writeByteString(formatLiteral(bytes.length, deflate(bytes)));
    }
  }
}

/** Appends a tab to a name with a space, for tools that would end the name there. */
function withTab(label: string): string {
  return label.includes(" ") ? `${label}\t` : label;
}

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const BYTES_PER_LINE = 52;

/** Writes a hunk from which `git apply` makes a binary file: the whole content, deflated, in base
 * 85.
 * @param sizeBytes size of the content before deflating
 * @param deflated the content as a zlib stream
 * @see git's apply.c: parse_binary_hunk() */
function formatLiteral(sizeBytes: number, deflated: Uint8Array): string {
  const lines = [`literal ${sizeBytes}\n`];
  for (let at = 0; at < deflated.length; at += BYTES_PER_LINE) {
    lines.push(formatLine(deflated.subarray(at, at + BYTES_PER_LINE)));
  }
  return `${lines.join("")}\n`;
}

function formatLine(bytes: Uint8Array): string {
  // The line's length comes first: A to Z are 1 to 26, a to z are 27 to 52.
  let line = String.fromCharCode(bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26);
  for (let at = 0; at < bytes.length; at += 4) {
    let word = 0;
    for (let i = 0; i < 4; i++) word = word * 256 + (bytes[at + i] ?? 0);
    let digits = "";
    for (let i = 0; i < 5; i++) {
      digits = DIGITS[word % 85]! + digits;
      word = Math.floor(word / 85);
    }
    line += digits;
  }
  return `${line}\n`;
}

/** Characters that need quoting in a path: control characters, quotes, backslashes, anything
 * outside ASCII. */
// oxlint-disable-next-line no-control-regex -- those are what is looked for.
const SPECIAL = /[\x00-\x1f"\\\x7f-\xff]/;
// oxlint-disable-next-line no-control-regex -- as above.
const EACH_SPECIAL = /[\x00-\x1f"\\\x7f-\xff]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** A path as patches show it: in double quotes with C escapes where it needs them.
 * @param path byte string
 * @see git-config(1) core.quotePath */
function quotePath(path: string): string {
  if (!SPECIAL.test(path)) return path;
  const escaped = path.replace(
    EACH_SPECIAL,
    (char) => ESCAPES[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}
