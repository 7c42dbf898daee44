/** Numbers of commits by the time at which they were written. */
export interface Activity {
  readonly commit: string;
  readonly total: number;
  /** Days, or weeks by their Mondays, that have commits; in order. */
  readonly periods: readonly { readonly start: string; readonly commits: number }[];
  /** Numbers of commits by day of the week, from Monday, and hour. */
  readonly hours: readonly (readonly number[])[];
}

/** An author of commits; times in ISO 8601, UTC. */
interface Contributor {
  readonly name: string;
  readonly email: string;
  readonly commits: number;
  /** Times of the first and the last commit. */
  readonly first: string;
  readonly last: string;
}

/** A page of the authors of all commits that a commit reaches. */
export interface Contributors {
  readonly commit: string;
  /** Id of the mailmap's blob; null: there is no mailmap. */
  readonly mailmap: string | null;
  /** Number of all contributors. */
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
  /** Languages, the one with the most bytes first. */
  readonly languages: readonly (LanguageSum & {
    readonly name: string;
    readonly type: string;
    readonly color: string | null;
  })[];
  /** Files whose names match no language. */
  readonly other: LanguageSum;
}

/** A recorded push. */
export interface RecordedPush {
  readonly id: number;
  readonly time: string;
  /** The name of the pusher; null: unknown, or hidden from the requester. */
  readonly who: string | null;
  /** The first refs that moved; ids in hex, null: absent. */
  readonly refs: readonly { readonly name: string; readonly old: string | null; readonly new: string | null }[];
  /** Number of refs that moved. */
  readonly refCount: number;
  /** Bytes of the pack as received. */
  readonly packBytes: number;
  /** Number of new objects. */
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
  /** Bytes as stored, compressed. */
  readonly storedBytes: number;
  /** Number of all pushes ever. */
  readonly pushes: number;
  readonly lastPush: string | null;
}
