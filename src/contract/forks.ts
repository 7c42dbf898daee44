/** A branch of another repository of the family, which the caller may read. */
export interface ForeignBranch {
  /** Id of the repository. */
  readonly repository: string;
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
}

/** A fork to be made. */
export interface ForkRequest {
  /** Id of the parent. */
  readonly parent: string;
  /** Byte strings, without `refs/heads/`: the branches to take over, with the tags that they reach,
   * the first one as default branch unless the parent's is among them; null: all refs. */
  readonly branches: readonly string[] | null;
  /** When the fork deletes itself (ms since 1970); null: never. */
  readonly expiresMs: number | null;
  /** Who makes it, byte string; null: unknown. @see nameOf */
  readonly who: string | null;
}

/** A commit and all its ancestors. */
export interface Ancestry {
  /** In hex. */
  readonly commit: string;
  /** Ids, packed, the commit's own among them. */
  readonly oids: Uint8Array;
}

/** How a commit here relates to one elsewhere; ids in hex. */
export interface ForeignComparison {
  readonly base: string;
  /** The best common ancestors, the newest first. */
  readonly mergeBases: string[];
  /** Commits of the other side that are no ancestors of the base. */
  readonly ahead: number;
  /** Ancestors of the base that the other side lacks. */
  readonly behind: number;
}
