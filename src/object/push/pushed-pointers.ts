// Pointer files of Git LFS in a push: whether the objects that they name are there, and which blobs
// they are.
import { isHeld, type PackIndex, readPointers } from "../../base/codec/pack-index.ts";
import { GitError } from "../../base/format/errors.ts";
import type { LfsOid } from "../../base/format/lfs.ts";
import type { LfsTable } from "../store/lfs/lfs-table.ts";
import type { PushedObjects } from "./pushed-objects.ts";
import { ALLOW_MISSING_LFS } from "../../contract/push.ts";

/** Missing objects that are listed: git is told so much in one line. */
const MAX_LISTED = 10;

/** Refuses a push whose pointer files name objects that are not there: whoever clones it would get
 * the pointers alone.
 * @param lfs null: there is no repository yet
 * @param options the push's, byte strings
 * @throws GitError "missing-object", "unsupported" for another value of the option */
export function checkPointers(
  index: Pick<PackIndex, "pointers" | "entryOf" | "count">,
  lfs: Pick<LfsTable, "findMany"> | null,
  options: readonly string[],
): void {
  const unknown = options.find((option) => option.startsWith("lfs=") && option !== ALLOW_MISSING_LFS);
  if (unknown !== undefined)
    throw new GitError("unsupported", { what: unknown, reason: `the option is ${ALLOW_MISSING_LFS}` });
  if (index.pointers.length === 0 || options.includes(ALLOW_MISSING_LFS)) return;
  const wanted = new Set<LfsOid>();
  for (const { packNode, oid } of readPointers(index)) {
    // What is only the base of a delta is there already.
    if (isHeld(index, packNode)) wanted.add(oid);
  }
  const found = lfs?.findMany([...wanted]) ?? new Map();
  const missing = [...wanted].filter((oid) => !found.has(oid));
  if (missing.length === 0) return;
  const rest = missing.length - MAX_LISTED;
  const listed = missing.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  throw new GitError("missing-object", {
    what: "content of LFS files",
    oid: listed,
    reason: `send it first: git lfs push --all <remote>; or push without it: git push -o ${ALLOW_MISSING_LFS}`,
  });
}

/** Notes which of a push's objects are pointer files; must run in its transaction. */
export function enterPointers(lfs: LfsTable, { index, firstNumber }: PushedObjects): void {
  if (index.pointers.length === 0) return;
  const pointers = Array.from(readPointers(index), ({ packNode, ...pointer }) => ({
    ...pointer,
    object: index.number(packNode),
  }));
  lfs.begin(firstNumber - 1);
  lfs.addPointers(pointers.filter(({ object }) => object >= firstNumber));
}
