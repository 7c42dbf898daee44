/** What can be wrong with a repository:
 *
 * - `chunk-missing`, `chunk-short`, `chunk-checksum`, `chunk-row`: a chunk's bytes are missing, too
 *   few, or changed; its row is wrong.
 * - `object-row`, `object-unreadable`, `object-changed`: an object's row contradicts another row or
 *   the entry; the entry or its delta chain cannot be read; the content has another id.
 * - `object-refused`: git's fsck finds something in it (only on request).
 * - `reference-missing`, `reference-type`: it names an object that is missing or has another type.
 * - `node-row`, `tree-row`: the graph, or the cached entries of a tree, disagree with the object.
 * - `reachability`: the rows that say which node introduced an object disagree with the trees.
 * - `path-filter`: a filter of the paths that a commit changes is not the commit's.
 * - `ref-target`, `ref-peeled`, `ref-name`, `head`: a ref points to nothing or to the wrong type,
 *   an annotated tag is peeled wrongly, a name is invalid or conflicts, HEAD names no branch.
 * - `bundle`, `response`, `worktree-file`: an R2 object that a row names is missing, or another
 *   one. They can be rebuilt from chunks.
 * - `lfs-object`: the R2 object of an LFS object is missing, or has other bytes. A client that has
 *   it can send it again once the row is gone.
 * - `upload-part`: the R2 object of a part of an upload session is missing, or another one.
 * - `unreadable`: rows that a part of the check reads are damaged, or what it reads of R2. That
 *   part was left out.
 * - `orphan`: an R2 object that no row names and no job will sweep. It costs storage but does no
 *   harm. */
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
  "path-filter",
  "ref-target",
  "ref-peeled",
  "ref-name",
  "head",
  "bundle",
  "response",
  "worktree-file",
  "lfs-object",
  "upload-part",
  "unreadable",
  "orphan",
] as const;

/** A kind of problem. */
export type FsckProblemKind = (typeof FSCK_PROBLEMS)[number];

/** A problem, and what it concerns. */
export interface FsckProblem {
  readonly kind: FsckProblemKind;
  /** Object id in hex. */
  readonly oid?: string;
  /** Id of a chunk. */
  readonly chunk?: number;
  /** Key of an R2 object. */
  readonly key?: string;
  /** Byte string. */
  readonly ref?: string;
  /** For people. */
  readonly detail: string;
}
