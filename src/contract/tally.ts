/** When commits were written, and how many. */
export interface Activity {
  readonly commit: string;
  readonly total: number;
  /** The days, or the weeks by their Mondays, that have commits, in order. */
  readonly periods: readonly { readonly start: string; readonly commits: number }[];
  /** By the day of the week, from Monday, and the hour. */
  readonly hours: readonly (readonly number[])[];
}

/** Somebody who wrote commits; times in ISO 8601, UTC. */
interface Contributor {
  readonly name: string;
  readonly email: string;
  readonly commits: number;
  /** When the first and the last of them were written. */
  readonly first: string;
  readonly last: string;
}

/** One page of the authors of the commits that a commit reaches. */
export interface Contributors {
  readonly commit: string;
  /** The mailmap's blob; null: there is none. */
  readonly mailmap: string | null;
  /** How many contributors there are in total. */
  readonly total: number;
  readonly contributors: readonly Contributor[];
}

/** The files of one language, or of none. */
export interface LanguageSum {
  readonly files: number;
  readonly bytes: number;
}

/** The sums over the files of a tree. */
export interface Languages extends LanguageSum {
  readonly tree: string;
  /** Those with the most bytes first. */
  readonly languages: readonly (LanguageSum & {
    readonly name: string;
    readonly type: string;
    readonly color: string | null;
  })[];
  /** The files whose names match no language. */
  readonly other: LanguageSum;
}

/** A recorded push. */
export interface RecordedPush {
  readonly id: number;
  readonly time: string;
  /** Who pushed; null: unknown, or hidden from the requester. */
  readonly who: string | null;
  /** The first of the refs that moved; ids in hex, null: absent. */
  readonly refs: readonly { readonly name: string; readonly old: string | null; readonly new: string | null }[];
  /** How many refs moved. */
  readonly refCount: number;
  /** Bytes of the pack as received. */
  readonly packBytes: number;
  /** How many objects were new. */
  readonly objects: number;
}

/** The statistics of a repository; times in ISO 8601, UTC. */
export interface Stats {
  readonly defaultBranch: string | null;
  /** The fields that follow describe this commit; null: the default branch has none. */
  readonly commit: string | null;
  readonly commits: number;
  readonly contributors: number;
  readonly files: number;
  /** Bytes of the files. */
  readonly bytes: number;
  /** The earliest and the latest commit time. */
  readonly firstCommit: string | null;
  readonly lastCommit: string | null;
  /** The fields that follow describe the whole repository. */
  readonly branches: number;
  readonly tags: number;
  readonly objects: number;
  /** As stored, compressed. */
  readonly storedBytes: number;
  /** All pushes ever. */
  readonly pushes: number;
  readonly lastPush: string | null;
}
