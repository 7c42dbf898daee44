// Callers and their rights. The Worker identifies a request's caller once (`host/identify.ts`).
// `authorise` decides what the caller may do with a repository, for Git and the API alike.
import { encodeText } from "../format/byte-string.ts";
import { GitError } from "../format/errors.ts";
import type { PushQuota } from "./quota.ts";

/** Rights in a repository; each includes those before it. `operate` is for the operator of the
 * deployment only. */
export const RIGHTS = ["read", "write", "admin", "operate"] as const;

/** @see RIGHTS */
export type Right = (typeof RIGHTS)[number];

/** The sender of a request. Structured-cloneable, and serializable as JSON. */
export type Caller =
  /** Anyone: access is open. */
  | { readonly kind: "anyone" }
  /** A caller without a token. */
  | { readonly kind: "anonymous" }
  /** A caller with the deployment's admin token. */
  | { readonly kind: "operator" }
  /** A caller with a created token, as it was when the registry was asked (ms since 1970). */
  | { readonly kind: "token"; readonly token: Token; readonly knownMs: number };

/** A token's scope: all present and future repositories of an owner, or one repository, whatever
 * its name. */
export type TokenScope = { readonly owner: string } | { readonly repositoryId: string };

/** Length limit of a token's name in characters. */
export const MAX_TOKEN_NAME = 200;

/** A created token, without its secret. */
export interface Token {
  /** Public id. */
  readonly id: string;
  /** Purpose, in its creator's words. */
  readonly name: string;
  readonly scope: TokenScope;
  readonly right: Exclude<Right, "operate">;
  /** The refs that the token may change; null: all. */
  readonly refs: readonly TokenRefRule[] | null;
  readonly createdMs: number;
  /** End of validity; null: never. */
  readonly expiresMs: number | null;
  /** Time of the last use, precise to an hour; null: never used. */
  readonly lastUsedMs: number | null;
}

/** Refs that a token may change, and how. */
export interface TokenRefRule {
  /** For full ref names; byte string. @see WildPattern */
  readonly pattern: string;
  readonly noForce: boolean;
  readonly noDelete: boolean;
}

/** A request and its caller. */
export interface Asker {
  /** Identifies the request in logs. */
  readonly requestId: string;
  readonly caller: Caller;
}

/** A caller's right and quota in a repository. */
export interface Standing {
  readonly caller: Caller;
  /** The caller's largest right here. */
  readonly right: Right;
  /** The caller's quota for growth of the repository. */
  readonly quota: PushQuota;
}

/** A caller as a repository sees it. Structured-cloneable, and serializable as JSON. */
export interface Requester extends Asker, Standing {
  /** Time of the lookup (ms since 1970). */
  readonly knownMs: number;
}

/** The target of a right: a repository, or everything of an owner. */
export interface Target {
  readonly owner: string;
  /** Null: there is no such repository (yet). */
  readonly id: string | null;
  readonly visibility: "public" | "private";
}

/** Everything of an owner, present and future. */
export function everythingOf(owner: string): Target {
  return { owner, id: null, visibility: "private" };
}

/** Finds the largest right that a caller has; null: none. */
export function rightOf(caller: Caller, target: Target): Right | null {
  const fromVisibility = target.visibility === "public" ? "read" : null;
  switch (caller.kind) {
    case "anyone":
    case "operator":
      return "operate";
    case "anonymous":
      return fromVisibility;
    case "token":
      return holdsFor(caller.token.scope, target) ? caller.token.right : fromVisibility;
  }
}

/** Whether a right includes another. */
export function includesRight(right: Right, needed: Right): boolean {
  return RIGHTS.indexOf(right) >= RIGHTS.indexOf(needed);
}

/** Whether a caller has a right. */
export function may(caller: Caller, needed: Right, target: Target): boolean {
  const right = rightOf(caller, target);
  return right !== null && includesRight(right, needed);
}

/** Checks a caller's right. A caller without the right to read gets the same answer as for a
 * missing repository.
 * @throws GitError "unauthenticated" when a token might help, "not-found" when the caller
 *   must not learn of the repository, "forbidden" when the caller may read but not do this */
export function authorise(caller: Caller, needed: Right, target: Target): void {
  if (may(caller, needed, target)) return;
  const right = rightOf(caller, target);
  if (caller.kind === "anonymous") throw new GitError("unauthenticated", { what: "token" });
  if (right === null) throw new GitError("not-found", { subject: "repository" });
  throw new GitError("forbidden", { what: "this", reason: `it needs the right '${needed}', and yours is '${right}'` });
}

/** A caller's name in the push log and in events, as a byte string; null: unknown. */
export function nameOf(caller: Caller): string | null {
  switch (caller.kind) {
    case "anyone":
    case "anonymous":
      return null;
    case "operator":
      return "operator";
    case "token":
      return encodeText(`token ${caller.token.id} (${caller.token.name})`);
  }
}

function holdsFor(scope: TokenScope, { owner, id }: Target): boolean {
  return "owner" in scope ? scope.owner.toLowerCase() === owner.toLowerCase() : scope.repositoryId === id;
}
