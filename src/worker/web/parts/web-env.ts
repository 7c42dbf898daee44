import type { Context } from "hono";
import type { Right } from "../../../base/access/caller.ts";
import type { Deployment } from "../../shared/deployment.ts";
import type { Ambiguities, RepositoryClient } from "../../../contract/calls.ts";

/** Who looks at a page. */
export type Visitor =
  /** Access is open: nobody signs in. */
  | { readonly kind: "anyone" }
  | { readonly kind: "anonymous" }
  /** @param name for people; `id` names the token, or is `operator` */
  | { readonly kind: "signed-in"; readonly name: string; readonly id: string };

/** Where a visitor may make repositories: for every owner, for one, with this right for everything
 * of theirs, or nowhere. */
export type MayCreate = "everywhere" | { readonly owner: string; readonly right: Right } | null;

/** The repository that a page is about. */
export interface PagePlace {
  /** As they are displayed. */
  readonly owner: string;
  readonly name: string;
  readonly visibility: "public" | "private";
  /** The visitor's right there. */
  readonly right: Right;
}

/** A repository, opened for a page. */
export interface OpenedPlace extends PagePlace {
  readonly client: RepositoryClient;
  /** The URL has a former name. */
  readonly isFormer: boolean;
}

/** The host's services for one request of a page. */
export interface WebHost extends Deployment {
  /** Names the request in the log. */
  readonly requestId: string;
  /** Another one for other code: part of every entity tag. */
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
   * @param token its text
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
    /** What the path's repository is, and the way to it: pages have no other. */
    place: PagePlace;
    repository: RepositoryClient;
    /** What names in the path could also have meant, as far as it is known. */
    ambiguities: Ambiguities;
  };
}

/** The context of a page. */
export type PageContext = Context<WebEnv>;
