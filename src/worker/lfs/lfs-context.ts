import type { Right } from "../../base/access/caller.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import type { SignedRequests } from "../../base/chunks/signed-requests.ts";
import type { RepositoryClient } from "../../contract/calls.ts";

/** A request of the LFS client to a repository, and what serving it needs. */
export interface LfsContext {
  readonly request: Request;
  /** Where the repository's LFS routes begin, without a trailing slash. */
  readonly url: string;
  readonly chunks: ChunkStore;
  /** Bytes that a request's body can bring. */
  readonly maxBodyBytes: number;
  /** Bytes of the largest object. */
  readonly maxObjectBytes: number;
  /** Bytes of the largest part of an object that comes in parts; 0: none can. */
  readonly largestPartBytes: number;
  /** Signs requests with which clients reach the bucket themselves; null: the deployment cannot. */
  readonly signed: SignedRequests | null;
  /** Opens the repository, if the caller has the right. Its calls throw GitError "not-found" when
   * there is none. @throws GitError as `authorise` */
  readonly open: (needed: Right) => Promise<RepositoryClient>;
  /** Makes the repository, as a push to its name would. The client sends objects before it pushes.
   * @throws GitError "not-found" when pushes must not create it, and as `authorise` */
  readonly create: () => Promise<void>;
}
