import { decodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";

/** Characters of an id that a reason shows. */
const SHORT_HEX = 12;

/** Why a ref did not move; can be written as JSON. Ids are hex, names byte strings. */
export type RefRefusal =
  /** It is not what the client believes. Null: absent. */
  | { readonly kind: "stale"; readonly expected: string | null; readonly actual: string | null }
  /** Another ref stands in the way, as its directory or below it. */
  | { readonly kind: "conflict"; readonly with: string }
  /** The rules for refs keep it where it is. @see RefRules.refuse */
  | { readonly kind: "forbidden"; readonly reason: string }
  /** What it was to become is not there, or not all of it; `oid`: the first object that was missed. */
  | { readonly kind: "missing"; readonly oid: string | null; readonly isShallow: boolean }
  /** It is a branch, and was to become something else than a commit. */
  | { readonly kind: "not-a-commit" }
  /** HEAD points at it: it cannot be deleted. */
  | { readonly kind: "current-branch" }
  /** No ref can be called so. */
  | { readonly kind: "bad-name" }
  /** Several commands of the push name it. */
  | { readonly kind: "repeated"; readonly name: string }
  /** The push was atomic, and another ref of it was refused. */
  | { readonly kind: "atomic" }
  /** The pack was refused. */
  | { readonly kind: "unpack" };

/** How one command ended. */
export interface RefOutcome {
  /** Byte string. */
  readonly name: string;
  /** Why the ref did not move; null: it did. */
  readonly refusal: RefRefusal | null;
}

/** Says why a ref did not move, as the report of a push does: in git's own words where git has some.
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
      // A shallow clone can push only what leads to commits that are here.
      return `shallow update not allowed: the clone is cut off, and what comes before is not here; git fetch --unshallow, then push again (${objects})`;
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

/** The error for a ref that somebody wanted to move by itself, and that did not. */
export function refusalError(name: string, refusal: RefRefusal): GitError {
  switch (refusal.kind) {
    case "stale":
      return new GitError("stale", {
        what: decodeText(name),
        expected: refusal.expected,
        actual: refusal.actual,
      });
    case "forbidden":
      return new GitError("forbidden", {
        what: `this change of ${decodeText(name)}`,
        reason: decodeText(refusal.reason),
      });
    default:
      return new GitError("conflict", { what: "change of a ref", reason: decodeText(explainRefusal(refusal)) });
  }
}

/** A ref that did not move. */
export type RefusedRef = RefOutcome & { readonly refusal: RefRefusal };

/** The ref for whose sake a push came to nothing: what is forbidden before what is stale, and the rest as it comes.
 * @returns null when all moved */
export function findRefused(outcomes: readonly RefOutcome[]): RefusedRef | null {
  const refused = outcomes.filter((outcome): outcome is RefusedRef => outcome.refusal !== null);
  const find = (kind: RefRefusal["kind"]) => refused.find(({ refusal }) => refusal.kind === kind);
  return (
    find("forbidden") ?? find("stale") ?? refused.find(({ refusal }) => refusal.kind !== "atomic") ?? refused[0] ?? null
  );
}

/** Decides whether a push comes to nothing: when no ref would move, or when it is atomic and one would not.
 * @param outcomes of its refs, each looked at by itself
 * @returns the outcomes, of which none moves a ref; null: the push goes on */
export function refuseWhole(outcomes: readonly RefOutcome[], isAtomic: boolean): RefOutcome[] | null {
  const isRefused = ({ refusal }: RefOutcome): boolean => refusal !== null;
  if (!outcomes.some(isRefused) || !(isAtomic || outcomes.every(isRefused))) return null;
  return outcomes.map(({ name, refusal }) => ({ name, refusal: refusal ?? { kind: "atomic" } }));
}

/** What becomes of the refs of a push whose pack is refused. */
export function refuseUnpacked(commands: readonly { readonly name: string }[]): RefOutcome[] {
  return commands.map(({ name }) => ({ name, refusal: { kind: "unpack" } }));
}

function short(hex: string | null): string {
  return hex === null ? "nothing" : hex.slice(0, SHORT_HEX);
}
