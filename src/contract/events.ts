/** Something that happened to a repository. */
export interface RepositoryEventRecord {
  /** @see EventId */
  readonly id: string;
  /** `push`, `repository`, `status`, `lock` or `token`. */
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Who did it; null: unknown, or hidden from the requester. */
  readonly who: string | null;
  /** Of a push: `DescribedPush`. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What happened to a token for the repository alone. */
export interface TokenEvent {
  readonly action: "created" | "revoked";
  readonly id: string;
  readonly name: string;
  readonly right: string;
}

/** Which events are read. */
export interface EventQuery {
  /** The id of the last event that is known, `latest`: only what follows; null: from the oldest
   * that is kept. */
  readonly after: string | null;
  readonly limit: number;
}

/** A page of the event log. */
export interface EventPage {
  /** In order. */
  readonly events: readonly RepositoryEventRecord[];
  /** Where the next page begins: the place of the last event that was looked at. */
  readonly next: string;
  /** Whether there may be more already. */
  readonly more: boolean;
  /** Whether events after the asked place were dropped before they were read. */
  readonly missed: boolean;
}

/** What happened to a repository's name or visibility. */
export type RepositoryChange =
  | { readonly action: "published" | "hidden" }
  /** Names as `owner/name`. */
  | { readonly action: "renamed"; readonly from: string; readonly to: string };

/** What a commit's check has come to. */
export const STATUS_STATES = ["pending", "success", "failure", "error"] as const;

/** @see STATUS_STATES */
export type StatusState = (typeof STATUS_STATES)[number];

/** A status of a commit as the API shows it. */
export interface CommitStatus extends Pick<StoredStatus, "context" | "description" | "url"> {
  readonly state: StatusState;
  readonly timestamp: string;
  /** Null: unknown, or hidden from the requester. */
  readonly who: string | null;
}

/** A commit's statuses. */
export interface CommitStatuses {
  /** The commit's id, hex. */
  readonly oid: string;
  /** `failure` if one is, or is an error; else `pending` if one is, or there is none; else
   * `success`. */
  readonly state: "pending" | "success" | "failure";
  readonly statuses: readonly CommitStatus[];
}

/** An event of one of an owner's repositories. Its id is its place in the owner's log. */
export interface OwnerEventRecord extends RepositoryEventRecord {
  readonly repository: {
    readonly id: string;
    readonly owner: string;
    readonly name: string;
    /** Its id in the repository's log. */
    readonly event: string;
  };
}

/** A page of an owner's log. */
export interface OwnerEventPage extends EventPage {
  readonly events: readonly OwnerEventRecord[];
  /** When the log began, ISO 8601. */
  readonly since: string;
}

/** What somebody says of a commit; the last word in a context counts. */
export interface StoredStatus {
  /** What is judged, such as `ci/tests`. */
  readonly context: string;
  readonly timeMs: number;
  /** Byte string; null: unknown. */
  readonly who: string | null;
  readonly state: string;
  readonly description: string | null;
  readonly url: string | null;
}
