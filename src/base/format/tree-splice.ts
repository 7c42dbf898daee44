// Reads and changes single entries of a tree without parsing the others, since commits often change
// one file in a directory of thousands.
import { SLASH, SPACE, fromByteString } from "./byte-string.ts";
import { type DeltaPiece, joinPieces } from "./delta.ts";
import { OID_BYTES, type Oid } from "./oid.ts";
import { isTreeMode, parseMode, parseTree, type TreeEntry } from "./tree.ts";

/** An entry's new value; null: it is removed. */
export type TreeChange = Pick<TreeEntry, "mode" | "oid"> | null;

/** A changed tree. */
interface SplicedTree {
  readonly content: Uint8Array;
  /** The new tree in terms of the old one: a delta. */
  readonly pieces: readonly DeltaPiece[];
}

/** Finds an entry by its name.
 * @param content of a tree that passed fsck
 * @param name byte string
 * @returns null if there is none; its `oid` is a view of the content */
export function findTreeEntry(content: Uint8Array, name: string): TreeEntry | null {
  for (let at = 0; at < content.length;) {
    const nul = content.indexOf(0, at);
    const end = nul + 1 + OID_BYTES;
    const nameAt = nul - name.length;
    if (content[nameAt - 1] === SPACE && isAt(content, nameAt, name) && content.indexOf(SPACE, at) === nameAt - 1)
      return parseTree(content.subarray(at, end))[0]!;
    at = end;
  }
  return null;
}

/** Changes entries of a tree.
 * @param content of a tree that passed fsck and so is sorted
 * @param changes by name (byte string) */
export function spliceTree(content: Uint8Array, changes: ReadonlyMap<string, TreeChange>): SplicedTree {
  const steps = listSteps(changes);
  const pieces: DeltaPiece[] = [];
  let keptFrom = 0;
  const keepTo = (to: number): void => {
    if (to > keptFrom) pieces.push({ from: keptFrom, to });
  };
  const put = (step: Step): void => {
    if (step.entry !== null) pieces.push(step.entry);
  };
  let next = 0;
  for (let at = 0; at < content.length && next < steps.length;) {
    const space = content.indexOf(SPACE, at);
    const nul = content.indexOf(0, space);
    const end = nul + 1 + OID_BYTES;
    const isTree = isTreeMode(parseMode(content, at, space));
    for (let order = 1; next < steps.length && order > 0;) {
      const step = steps[next]!;
      order = compareName(content, space + 1, nul, isTree, step.key);
      if (order < 0) break;
      keepTo(at);
      keptFrom = order === 0 ? end : at;
      put(step);
      next++;
    }
    at = end;
  }
  keepTo(content.length);
  for (const step of steps.slice(next)) put(step);
  return { content: joinPieces(content, pieces), pieces };
}

/** A change at one place in the order of entries. */
interface Step {
  /** The name in its sort form: a directory's with a slash appended. */
  readonly key: Uint8Array;
  /** The encoded entry to insert; null: only remove an entry of that name. */
  readonly entry: Uint8Array | null;
}

/** Lists the changes in the order of tree entries. Each name has two places: as a file and as a
 * directory. */
function listSteps(changes: ReadonlyMap<string, TreeChange>): Step[] {
  const steps: (Step & { readonly text: string })[] = [];
  for (const [name, change] of changes) {
    for (const isTree of [false, true]) {
      const text = isTree ? `${name}/` : name;
      const isPlace = change !== null && isTreeMode(change.mode) === isTree;
      steps.push({ text, key: fromByteString(text), entry: isPlace ? encodeEntry(name, change) : null });
    }
  }
  return steps.sort((a, b) => (a.text < b.text ? -1 : 1));
}

function encodeEntry(name: string, { mode, oid }: Exclude<TreeChange, null>): Uint8Array {
  const head = fromByteString(`${mode.toString(8)} ${name}\0`);
  const entry = new Uint8Array(head.length + OID_BYTES);
  entry.set(head);
  entry.set(oid satisfies Oid, head.length);
  return entry;
}

/** Compares a name, with a slash appended for a directory, with a key: negative, zero or
 * positive. */
function compareName(content: Uint8Array, start: number, end: number, isTree: boolean, key: Uint8Array): number {
  const length = end - start + (isTree ? 1 : 0);
  for (let i = 0; i < Math.min(length, key.length); i++) {
    const byte = start + i < end ? content[start + i]! : SLASH;
    if (byte !== key[i]) return byte - key[i]!;
  }
  return length - key.length;
}

function isAt(content: Uint8Array, offset: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (content[offset + i] !== text.charCodeAt(i)) return false;
  return true;
}
