import type { GitError } from "../base/format/errors.ts";

/** The push option that lets a push in whose LFS objects are missing. */
export const ALLOW_MISSING_LFS = "lfs=allow-missing";

/** One ref to create, update or delete. */
export interface RefCommand {
  /** Byte string, as the client sent it; not checked yet when just received. */
  readonly name: string;
  /** The client's idea of the ref's current value; the null oid: it does not exist. 20 bytes. */
  readonly old: Uint8Array;
  /** The new value; the null oid: the ref is deleted. 20 bytes. */
  readonly new: Uint8Array;
}

/** The result of a push. */
export interface PushResult {
  /** Why the pack was refused; null: it was not. */
  readonly unpack: GitError | null;
  /** One for each command, in the order of the commands. */
  readonly refs: readonly RefOutcome[];
}

/** Hex digits of an id that a reason shows. */
const SHORT_HEX = 12;

/** Why a ref did not move; serializable as JSON. Ids are hex, names byte strings. */
export type RefRefusal =
  /** It is not at the value that the client expects. Null: absent. */
  | { readonly kind: "stale"; readonly expected: string | null; readonly actual: string | null }
  /** Its name conflicts with another ref, a directory of it or below it. */
  | { readonly kind: "conflict"; readonly with: string }
  /** The rules for refs forbid the change. @see RefRules.refuse */
  | { readonly kind: "forbidden"; readonly reason: string }
  /** Its new value is missing or incomplete; `oid`: the first missing object. */
  | { readonly kind: "missing"; readonly oid: string | null; readonly isShallow: boolean }
  /** It is a branch, and its new value is not a commit. */
  | { readonly kind: "not-a-commit" }
  /** HEAD names it, so it cannot be deleted. */
  | { readonly kind: "current-branch" }
  /** Its name is invalid. */
  | { readonly kind: "bad-name" }
  /** Several commands of the push name it. */
  | { readonly kind: "repeated"; readonly name: string }
  /** The push was atomic, and another of its refs was refused. */
  | { readonly kind: "atomic" }
  /** The pack was refused. */
  | { readonly kind: "unpack" };

/** The result of one command. */
export interface RefOutcome {
  /** Byte string. */
  readonly name: string;
  /** Why the ref did not move; null: it moved. */
  readonly refusal: RefRefusal | null;
}

/** Says why a ref did not move, for the report of a push: in git's words where git has some.
 * @returns byte string */
export function explainRefusal(refusal: RefRefusal): string {
  switch (refusal.kind) {
    case "stale":
      return `is at ${short(refusal.actual)} but expected ${short(refusal.expected)}`;
    case "conflict":
      return `conflicts with ${refusal.with}`;
    case "forbidden":
      return refusal.reason;
    case "missing": {
      const objects = `missing necessary objects${refusal.oid === null ? "" : `: ${refusal.oid}`}`;
      if (!refusal.isShallow) return objects;
      // A shallow clone can push only commits whose parents are here.
      return `shallow update not allowed: commits before the clone's shallow boundary are missing here; run git fetch --unshallow, then push again (${objects})`;
    }
    case "not-a-commit":
      return "cannot point a branch at an object that is not a commit";
    case "current-branch":
      return "deletion of the current branch prohibited";
    case "bad-name":
      return "funny refname";
    case "repeated":
      return `multiple updates for ref '${refusal.name}' not allowed`;
    case "atomic":
      return "atomic push failure";
    case "unpack":
      return "unpacker error";
  }
}

/** A ref that did not move. */
export type RefusedRef = RefOutcome & { readonly refusal: RefRefusal };

/** The ref that explains why a push was refused: forbidden before stale, then the first of the
 * others.
 * @returns null when all moved */
export function findRefused(outcomes: readonly RefOutcome[]): RefusedRef | null {
  const refused = outcomes.filter((outcome): outcome is RefusedRef => outcome.refusal !== null);
  const find = (kind: RefRefusal["kind"]) => refused.find(({ refusal }) => refusal.kind === kind);
  return (
    find("forbidden") ?? find("stale") ?? refused.find(({ refusal }) => refusal.kind !== "atomic") ?? refused[0] ?? null
  );
}

function short(hex: string | null): string {
  return hex === null ? "nothing" : hex.slice(0, SHORT_HEX);
}

/** Where a repository is now, after a request by a former name. */
export interface NewPlace {
  /** `owner/name`. */
  readonly name: string;
  readonly url: string;
}

/** What git shows to users of a former name; without a line feed. */
export function movedNotice({ name, url }: NewPlace): string {
  return `This repository is now ${name}: git remote set-url origin ${url}`;
}
