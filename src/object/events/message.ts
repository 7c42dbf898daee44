import type { RepositoryName } from "../../base/format/repository-name.ts";
import type { RepositoryEventRecord } from "../../contract/events.ts";

/** The content of one request to a webhook. */
export interface Message {
  /** The same for every attempt. */
  readonly id: string;
  readonly type: string;
  /** JSON. */
  readonly body: string;
}

/** The repository that messages are about. */
export interface MessageSource extends RepositoryName {
  /** The registry's id. */
  readonly id: string;
  /** Without `refs/heads/`; null: HEAD names no branch. */
  readonly defaultBranch: string | null;
}

/** Subject of a ping: the repository whose events the webhook gets, or their owner. */
export type PingSource = MessageSource | { readonly owner: string; readonly name: null };

/** An event of one of an owner's repositories. */
export interface OwnedEvent {
  readonly repository: MessageSource;
  readonly event: RepositoryEventRecord;
}
