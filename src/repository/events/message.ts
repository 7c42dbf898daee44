import type { RepositoryName } from "../../format/repository-name.ts";

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
