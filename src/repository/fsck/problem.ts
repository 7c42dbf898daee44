/** What can be wrong with a repository:
 *
 * - `chunk-missing`, `chunk-short`, `chunk-checksum`, `chunk-row`: a chunk's bytes are not there, too few, or others than were written; its row
 *   says what is not so.
 * - `object-row`, `object-unreadable`, `object-changed`: an object's row contradicts another row or the entry; the entry or its delta chain cannot be
 *   made whole; what it comes to has another id.
 * - `object-refused`: git's fsck finds something in it (asked for only).
 * - `reference-missing`, `reference-type`: it names an object that is not there, or of another type.
 * - `node-row`, `tree-row`: the graph, or what is remembered of a tree, is not what the object says.
 * - `reachability`: the rows that say which node brought an object are not what the trees say.
 * - `ref-target`, `ref-peeled`, `ref-name`, `head`: a ref leads nowhere or to the wrong type, an annotated tag is peeled wrongly, a
 *   name is none or conflicts, HEAD names no branch.
 * - `bundle`, `response`, `worktree-file`: an R2 object that a row names is not there, or another. They are made again from chunks.
 * - `orphan`: an R2 object that no row names and no job will sweep. It costs storage and does no harm. */
export const FSCK_PROBLEMS = [
  "chunk-missing",
  "chunk-short",
  "chunk-checksum",
  "chunk-row",
  "object-row",
  "object-unreadable",
  "object-changed",
  "object-refused",
  "reference-missing",
  "reference-type",
  "node-row",
  "tree-row",
  "reachability",
  "ref-target",
  "ref-peeled",
  "ref-name",
  "head",
  "bundle",
  "response",
  "worktree-file",
  "orphan",
] as const;

/** A kind of problem. */
export type FsckProblemKind = (typeof FSCK_PROBLEMS)[number];

/** Something that is wrong, and with what. */
export interface FsckProblem {
  readonly kind: FsckProblemKind;
  /** Object id in hex. */
  readonly oid?: string;
  /** Id of a chunk. */
  readonly chunk?: number;
  /** Of an R2 object. */
  readonly key?: string;
  /** Byte string. */
  readonly ref?: string;
  /** For people. */
  readonly detail: string;
}
