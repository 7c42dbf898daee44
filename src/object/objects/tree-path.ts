import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { Oid } from "../../base/format/oid.ts";
import { isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import type { OpenRepository } from "./open-repository.ts";

/** The entry at a path. */
export interface PathEntry {
  readonly mode: number;
  readonly oid: Oid;
  /** Object number; 0: a gitlink, whose commit is in another repository. */
  readonly number: ObjectNumber;
}

/** Finds the entry at a path below a tree, reading the trees on the way.
 * @param tree object number
 * @param path byte string, parts separated by "/"
 * @returns null when there is none
 * @throws GitError "storage-failed" when a tree cannot be read */
export async function entryAt(repository: OpenRepository, tree: ObjectNumber, path: string): Promise<PathEntry | null> {
  const parts = path.split("/");
  let number = tree;
  for (const [depth, part] of parts.entries()) {
    const entry = findTreeEntry((await repository.reader.read(number)).bytes, part);
    if (entry === null) return null;
    const isLast = depth === parts.length - 1;
    if (!isLast && !isTreeMode(entry.mode)) return null;
    number = typeOfMode(entry.mode) === "commit" ? 0 : repository.numberOf(entry.oid);
    if (isLast) return { mode: entry.mode, oid: entry.oid.slice(), number };
  }
  return null;
}
