/** Something that happened to a repository. */
export interface RepositoryEventRecord {
  /** @see EventId */
  readonly id: string;
  /** `push`, `repository`, `status`, `lock` or `token`. */
  readonly type: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** The name of the caller; null: unknown, or hidden from the requester. */
  readonly who: string | null;
  /** Data by type; for a push, `DescribedPush`. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A token for the repository alone was created or revoked. */
export interface TokenEvent {
  readonly action: "created" | "revoked";
  readonly id: string;
  readonly name: string;
  readonly right: string;
}

/** A request for events. */
export interface EventQuery {
  /** Id of the last known event; `latest`: only later events; null: from the oldest kept event. */
  readonly after: string | null;
  readonly limit: number;
}

/** A page of the event log. */
export interface EventPage {
  /** Events in the order of the log. */
  readonly events: readonly RepositoryEventRecord[];
  /** Cursor of the next page: the position of the last event that was read. */
  readonly next: string;
  /** Whether more events may exist already. */
  readonly more: boolean;
  /** Whether events after the requested position were dropped before they were read. */
  readonly missed: boolean;
}

/** A change of a repository's name or visibility. */
export type RepositoryChange =
  | { readonly action: "published" | "hidden" }
  /** Names as `owner/name`. */
  | { readonly action: "renamed"; readonly from: string; readonly to: string };

/** The states of a commit's check. */
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
  /** `failure` if any status is a failure or an error; else `pending` if any is pending, or
   * there is none; else `success`. */
  readonly state: "pending" | "success" | "failure";
  readonly statuses: readonly CommitStatus[];
}

/** An event of one of an owner's repositories. Its id is its position in the owner's log. */
export interface OwnerEventRecord extends RepositoryEventRecord {
  readonly repository: {
    readonly id: string;
    readonly owner: string;
    readonly name: string;
    /** The event's id in the repository's log. */
    readonly event: string;
  };
}

/** A page of an owner's event log. */
export interface OwnerEventPage extends EventPage {
  readonly events: readonly OwnerEventRecord[];
  /** Start of the log, ISO 8601. */
  readonly since: string;
}

/** A status that somebody set for a commit. The last one in a context counts. */
export interface StoredStatus {
  /** The check's name, such as `ci/tests`. */
  readonly context: string;
  readonly timeMs: number;
  /** The name of the caller, byte string; null: unknown. */
  readonly who: string | null;
  readonly state: string;
  readonly description: string | null;
  readonly url: string | null;
}
