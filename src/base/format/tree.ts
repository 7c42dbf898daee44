import { SPACE, toByteString, writeByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import type { ObjectType } from "./object.ts";
import { OID_BYTES, type Oid } from "./oid.ts";

/** Mode of a directory. */
export const TREE_MODE = 0o040000;
/** Mode of a file. */
export const FILE_MODE = 0o100644;
/** Mode of an executable file. */
export const EXECUTABLE_MODE = 0o100755;
/** Mode of a symbolic link: a blob that contains its target. */
export const SYMLINK_MODE = 0o120000;
/** Mode of a gitlink: a commit of another repository, which need not be stored here. */
export const GITLINK_MODE = 0o160000;

/** The bits of a mode that hold a file's kind, without its permissions. */
const KIND_MASK = 0o170000;

/** The bit by which git recognises executable files. */
const OWNER_RUNS = 0o100;

/** One entry of a tree. */
export interface TreeEntry {
  /** Mode as written, so that 0o100664 from old histories is preserved. */
  readonly mode: number;
  /** Byte string. */
  readonly name: string;
  /** The object's id; in a parsed tree, a view of its content. */
  readonly oid: Oid;
}

/** Takes the bits of a mode that hold a file's kind, without its permissions. */
export function kindBits(mode: number): number {
  return mode & KIND_MASK;
}

/** Whether the mode is a directory's. */
export function isTreeMode(mode: number): boolean {
  return kindBits(mode) === TREE_MODE;
}

/** Whether the mode is a file's, executable or not. */
export function isFileMode(mode: number): boolean {
  return kindBits(mode) === kindBits(FILE_MODE);
}

/** Whether a file with this mode is executable. */
export function isExecutable(mode: number): boolean {
  return (mode & OWNER_RUNS) !== 0;
}

/** Formats a mode in git's notation: six octal digits. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(6, "0");
}

/** Finds the type of object that an entry with this mode refers to. As in git, every unknown
 * kind counts as a gitlink, whose commit is in another repository. */
export function typeOfMode(mode: number): ObjectType {
  switch (kindBits(mode)) {
    case TREE_MODE:
      return "tree";
    case FILE_MODE & KIND_MASK:
    case SYMLINK_MODE:
      return "blob";
    default:
      return "commit";
  }
}

/** Converts modes from old histories to git's canonical form.
 * @see canon_mode() in its read-cache.h */
export function canonicalMode(mode: number): number {
  if (isTreeMode(mode)) return TREE_MODE;
  if (typeOfMode(mode) === "commit") return GITLINK_MODE;
  if (kindBits(mode) === SYMLINK_MODE) return SYMLINK_MODE;
  return isExecutable(mode) ? EXECUTABLE_MODE : FILE_MODE;
}

/** Compares entries in tree order: by the bytes of their names, a directory's as if it ended in
 * "/". */
function compareTreeEntries(a: TreeEntry, b: TreeEntry): number {
  const [left, right] = [sortName(a), sortName(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Parses a tree's content. Order and names are left to fsck.
 * @throws GitError "corrupt-object" on an empty or not octal mode, a missing NUL, a truncated
 * entry */
export function parseTree(content: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(SPACE, at);
    const nul = content.indexOf(0, at);
    const end = nul + 1 + OID_BYTES;
    if (space <= at || nul < space || end > content.length) throw corrupt("an entry is cut short");
    entries.push({
      mode: parseMode(content, at, space),
      name: toByteString(content.subarray(space + 1, nul)),
      oid: content.subarray(nul + 1, end),
    });
    at = end;
  }
  return entries;
}

/** Encodes a tree's content; sorts its entries.
 * @param entries in any order, each name once */
export function encodeTree(entries: readonly TreeEntry[]): Uint8Array {
  const sorted = entries.toSorted(compareTreeEntries);
  const heads = sorted.map(({ mode, name }) => `${mode.toString(8)} ${name}\0`);
  const sizeBytes = heads.reduce((sum, head) => sum + head.length + OID_BYTES, 0);
  const content = new Uint8Array(sizeBytes);
  let at = 0;
  for (const [index, { oid }] of sorted.entries()) {
    at = writeByteString(heads[index]!, content, at);
    content.set(oid, at);
    at += OID_BYTES;
  }
  return content;
}

function sortName({ mode, name }: TreeEntry): string {
  return isTreeMode(mode) ? `${name}/` : name;
}

/** Parses an octal mode into 16 bits, as git does: fsck warns of modes that overflow.
 * @throws GitError "corrupt-object" on any other character */
export function parseMode(content: Uint8Array, start: number, end: number): number {
  let mode = 0;
  for (let at = start; at < end; at++) {
    const digit = content[at]! - 0x30;
    if (digit < 0 || digit > 7) throw corrupt("a mode is not octal");
    mode = ((mode << 3) | digit) & 0xffff;
  }
  return mode;
}

function corrupt(reason: string): GitError {
  return new GitError("corrupt-object", { type: "tree", reason });
}
