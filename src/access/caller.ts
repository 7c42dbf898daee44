// Who asks, and what they may do. Whoever a request is from is found out once, in the Worker (`host/identify.ts`); what they may do with a
// repository is decided by `authorise`, for Git and API alike.
import { encodeText } from "../format/byte-string.ts";
import { GitError } from "../format/errors.ts";
import type { PushQuota } from "./quota.ts";

/** What may be done with a repository, each right with those before it: `operate` is for the operator of the deployment alone. */
export const RIGHTS = ["read", "write", "admin", "operate"] as const;

/** @see RIGHTS */
export type Right = (typeof RIGHTS)[number];

/** Who asks; can be cloned, and written as JSON. */
export type Caller =
  /** Whoever it is: access is open. */
  | { readonly kind: "anyone" }
  /** Who shows no token. */
  | { readonly kind: "anonymous" }
  /** Who shows the deployment's admin token. */
  | { readonly kind: "operator" }
  /** Who shows a token that was given out: as it was when the registry was asked (ms since 1970). */
  | { readonly kind: "token"; readonly token: Token; readonly knownMs: number };

/** What a token holds for: all repositories of an owner, also those to come, or one repository, whatever its name. */
export type TokenScope = { readonly owner: string } | { readonly repositoryId: string };

/** A token that was given out, without what proves it. */
export interface Token {
  /** Names it; no secret. */
  readonly id: string;
  /** What it is for, in its maker's words. */
  readonly name: string;
  readonly scope: TokenScope;
  readonly right: Exclude<Right, "operate">;
  /** The refs that it may move, null: all. */
  readonly refs: readonly TokenRefRule[] | null;
  readonly createdMs: number;
  /** Null: never. */
  readonly expiresMs: number | null;
  /** To the minute; null: it was not used. */
  readonly lastUsedMs: number | null;
}

/** Refs that a token may move, and how. */
export interface TokenRefRule {
  /** Of full names; byte string. @see WildPattern */
  readonly pattern: string;
  readonly noForce: boolean;
  readonly noDelete: boolean;
}

/** A request, by who it is from. */
export interface Asker {
  /** Names the request in logs. */
  readonly requestId: string;
  readonly caller: Caller;
}

/** What somebody may do with a repository. */
export interface Standing {
  readonly caller: Caller;
  /** The largest that the caller has here. */
  readonly right: Right;
  /** How much the repository may grow. */
  readonly quota: PushQuota;
}

/** A request as a repository sees it; can be cloned, and written as JSON. */
export interface Requester extends Asker, Standing {
  /** As of when that is known (ms since 1970). */
  readonly knownMs: number;
}

/** What a right is asked for: a repository, or what an owner's name would lead to. */
export interface Target {
  readonly owner: string;
  /** Null: there is no such repository (yet). */
  readonly id: string | null;
  readonly visibility: "public" | "private";
}

/** Everything that an owner has, and may have. */
export function everythingOf(owner: string): Target {
  return { owner, id: null, visibility: "private" };
}

/** The largest right that a caller has; null: none. */
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

/** Whether who has a right may do what needs another. */
export function includesRight(right: Right, needed: Right): boolean {
  return RIGHTS.indexOf(right) >= RIGHTS.indexOf(needed);
}

/** Whether a caller may do something. */
export function may(caller: Caller, needed: Right, target: Target): boolean {
  const right = rightOf(caller, target);
  return right !== null && includesRight(right, needed);
}

/** Lets a caller do something, or throws. Who may not even read is told that there is no repository, as it is told of one that is missing.
 * @throws GitError "unauthenticated" when a token might help, "not-found" when the caller may not know of it, "forbidden" when it may */
export function authorise(caller: Caller, needed: Right, target: Target): void {
  if (may(caller, needed, target)) return;
  const right = rightOf(caller, target);
  if (caller.kind === "anonymous") throw new GitError("unauthenticated", { what: "token" });
  if (right === null) throw new GitError("not-found", { what: "repository" });
  throw new GitError("forbidden", { what: `this needs the right '${needed}', which`, reason: `it has '${right}'` });
}

/** Who a caller is, in the push log and in events, as a byte string; null: nobody said. */
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
