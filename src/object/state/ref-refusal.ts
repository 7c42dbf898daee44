import { decodeText } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { explainRefusal, type RefRefusal, type RefOutcome } from "../../contract/push.ts";

/** Makes the error for a single ref that did not move. */
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

/** Decides whether a whole push is refused: when no ref would move, or when it is atomic and one
 * would not.
 * @param outcomes outcomes of its refs, each judged alone
 * @returns the outcomes, none of which moves a ref; null: the push continues */
export function refuseWhole(outcomes: readonly RefOutcome[], isAtomic: boolean): RefOutcome[] | null {
  const isRefused = ({ refusal }: RefOutcome): boolean => refusal !== null;
  if (!outcomes.some(isRefused) || !(isAtomic || outcomes.every(isRefused))) return null;
  return outcomes.map(({ name, refusal }) => ({ name, refusal: refusal ?? { kind: "atomic" } }));
}

/** Makes the outcomes of a push whose pack is refused. */
export function refuseUnpacked(commands: readonly { readonly name: string }[]): RefOutcome[] {
  return commands.map(({ name }) => ({ name, refusal: { kind: "unpack" } }));
}
