import type { GitError } from "../base/format/errors.ts";

/** The push option that accepts a push although LFS objects are missing. */
export const ALLOW_MISSING_LFS = "lfs=allow-missing";

/** One ref to create, update or delete. */
export interface RefCommand {
  /** Byte string as the client sent it, unchecked when just received. */
  readonly name: string;
  /** The ref's current value as the client knows it, 20 bytes; the null oid: the ref does not
   * exist. */
  readonly old: Uint8Array;
  /** The new value, 20 bytes; the null oid: the ref is deleted. */
  readonly new: Uint8Array;
}

/** The result of a push. */
export interface PushResult {
  /** Error for which the pack was refused; null: the pack was accepted. */
  readonly unpack: GitError | null;
  /** Outcomes in the order of the commands. */
  readonly refs: readonly RefOutcome[];
}

/** Number of hex digits of an id in a reason. */
const SHORT_HEX = 12;

/** Reason why a ref did not move; serializable as JSON. Ids are hex, names byte strings. */
export type RefRefusal =
  /** The ref has another value than the client expects. Null: absent. */
  | { readonly kind: "stale"; readonly expected: string | null; readonly actual: string | null }
  /** The name conflicts with another ref: one is a directory of the other. */
  | { readonly kind: "conflict"; readonly with: string }
  /** The rules for refs forbid the change. @see RefRules.refuse */
  | { readonly kind: "forbidden"; readonly reason: string }
  /** The new value is missing or incomplete; `oid`: the first missing object. */
  | { readonly kind: "missing"; readonly oid: string | null; readonly isShallow: boolean }
  /** The ref is a branch, and its new value is not a commit. */
  | { readonly kind: "not-a-commit" }
  /** HEAD names the ref, so it cannot be deleted. */
  | { readonly kind: "current-branch" }
  /** The name is invalid. */
  | { readonly kind: "bad-name" }
  /** Several commands of the push name the ref. */
  | { readonly kind: "repeated"; readonly name: string }
  /** The push was atomic, and another of its refs was refused. */
  | { readonly kind: "atomic" }
  /** The pack was refused. */
  | { readonly kind: "unpack" };

/** The result of one command. */
export interface RefOutcome {
  /** Byte string. */
  readonly name: string;
  /** Reason why the ref did not move; null: it moved. */
  readonly refusal: RefRefusal | null;
}

/** Explains to the client of a push why a ref did not move, in git's words where git has any.
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
      // A shallow clone can push only commits whose parents are stored here.
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

/** Finds the ref that explains best why a push was refused: a forbidden one, else a stale one, else
 * the first refused one.
 * @returns null when all refs moved */
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

/** The present place of a repository that was requested by a former name. */
export interface NewPlace {
  /** `owner/name`. */
  readonly name: string;
  readonly url: string;
}

/** The notice that git shows to users of a former name, without a line feed. */
export function movedNotice({ name, url }: NewPlace): string {
  return `This repository is now ${name}: git remote set-url origin ${url}`;
}
