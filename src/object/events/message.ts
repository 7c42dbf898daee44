import type { RepositoryName } from "../../base/format/repository-name.ts";
import type { RepositoryEventRecord } from "../../contract/events.ts";

/** What one request to a webhook says. */
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

/** What a ping says of its webhook: the repository whose events it is told, or their owner. */
export type PingSource = MessageSource | { readonly owner: string; readonly name: null };

/** An event of one of an owner's repositories. */
export interface OwnedEvent {
  readonly repository: MessageSource;
  readonly event: RepositoryEventRecord;
}
