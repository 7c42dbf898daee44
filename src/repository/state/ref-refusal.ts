import { decodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";

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

/** The error for a single ref that did not move. */
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

/** Decides whether a whole push is refused: when no ref would move, or when it is atomic and one
 * would not.
 * @param outcomes of its refs, each judged alone
 * @returns the outcomes, none of which moves a ref; null: the push continues */
export function refuseWhole(outcomes: readonly RefOutcome[], isAtomic: boolean): RefOutcome[] | null {
  const isRefused = ({ refusal }: RefOutcome): boolean => refusal !== null;
  if (!outcomes.some(isRefused) || !(isAtomic || outcomes.every(isRefused))) return null;
  return outcomes.map(({ name, refusal }) => ({ name, refusal: refusal ?? { kind: "atomic" } }));
}

/** The outcomes of a push whose pack is refused. */
export function refuseUnpacked(commands: readonly { readonly name: string }[]): RefOutcome[] {
  return commands.map(({ name }) => ({ name, refusal: { kind: "unpack" } }));
}

function short(hex: string | null): string {
  return hex === null ? "nothing" : hex.slice(0, SHORT_HEX);
}
