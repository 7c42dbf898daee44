import type { Context } from "hono";
import type { Right } from "../../../base/access/caller.ts";
import type { Deployment } from "../../shared/deployment.ts";
import type { Ambiguities, RepositoryClient } from "../../../contract/calls.ts";

/** The person or program that requests a page. */
export type Visitor =
  /** Access is open: nobody signs in. */
  | { readonly kind: "anyone" }
  | { readonly kind: "anonymous" }
  /** @param name for people; `id` is the token's, or `operator` */
  | { readonly kind: "signed-in"; readonly name: string; readonly id: string };

/** Owners for which a visitor may create repositories: all, one (with the visitor's right to
 * everything of that owner), or none. */
export type MayCreate = "everywhere" | { readonly owner: string; readonly right: Right } | null;

/** The repository that a page is about. */
export interface PagePlace {
  /** As displayed. */
  readonly owner: string;
  readonly name: string;
  readonly visibility: "public" | "private";
  /** The visitor's right to the repository. */
  readonly right: Right;
}

/** A repository, opened for a page. */
export interface OpenedPlace extends PagePlace {
  readonly client: RepositoryClient;
  /** Whether the URL has a former name. */
  readonly isFormer: boolean;
}

/** The host's services for one request of a page. */
export interface WebHost extends Deployment {
  /** Id of the request in the log. */
  readonly requestId: string;
  /** Identifies the deployed code: part of every entity tag. */
  readonly build: string;
  visitor(): Promise<Visitor>;
  mayCreate(): Promise<MayCreate>;
  /** Opens the repository named in the path, if the visitor has the needed right.
   * @throws GitError as `Deployment.open` */
  openPlace(
    owner: string,
    repository: string,
    needed: Right,
    noteAmbiguities: (ambiguities: Ambiguities) => void,
  ): Promise<OpenedPlace>;
  /** Signs the visitor in.
   * @param token text of a token
   * @returns a `Set-Cookie`
   * @throws GitError "unauthenticated", "rate-limited" */
  signIn(token: string): Promise<string>;
  /** @returns a `Set-Cookie` */
  signOut(): Promise<string>;
}

/** The variables in a request's context. */
export interface WebEnv {
  Variables: {
    host: WebHost;
    /** The repository in the path, and its client; pages have no other access to it. */
    place: PagePlace;
    repository: RepositoryClient;
    /** Other meanings of names in the path, if they are known. */
    ambiguities: Ambiguities;
  };
}

/** The context of a page. */
export type PageContext = Context<WebEnv>;
