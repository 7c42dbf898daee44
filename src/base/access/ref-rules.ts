// Rules for changes of refs. This file alone applies a repository's rules and a token's, whatever
// causes the change: a push, a commit through the API, a merge, a rename.
import { MAX_REF_RULE_STEPS } from "../format/limits.ts";
import { StepBudget } from "../format/step-budget.ts";
import { WildPattern } from "../format/wildmatch.ts";
import { includesRight, type Requester, type TokenRefRule } from "./caller.ts";

/** Length limit of a rule's pattern in bytes. */
export const MAX_PATTERN_BYTES = 200;

/** Limit of a repository's rules: every change of a ref is checked against each. */
export const MAX_PROTECTED = 100;

/** Limit of the tokens that one rule allows. */
export const MAX_ALLOWED_TOKENS = 100;

/** Limits of the checks that one rule requires: their number, and the characters of a check's
 * name (the context of a status). */
export const MAX_REQUIRED_CONTEXTS = 20;
export const MAX_CONTEXT_CHARS = 200;

/** Limit of a token's rules. It is low because the rules travel with each request to the
 * repository's object, for a push in a header. */
export const MAX_TOKEN_RULES = 20;

/** Refs that a repository protects. A rule binds everyone, but an admin can change the rule. */
export interface ProtectedRefs extends TokenRefRule {
  /** Allows only moves to descendants, for tags too, and no deletion. */
  readonly fastForwardOnly: boolean;
  /** Ids of the tokens that may change these refs, besides admins; null: everyone with the right to
   * write. */
  readonly allowedTokens: readonly string[] | null;
  /** Contexts in which a commit must have the status `success` before it is merged or picked into
   * these refs; text. */
  readonly requiredContexts: readonly string[];
}

/** A change of a ref. */
export interface RefChange {
  /** Full name, byte string. */
  readonly name: string;
  readonly kind: "creation" | "move" | "deletion";
  /** For a move: whether it goes to a descendant. Null: unknown so far; the move is then not
   * refused. */
  readonly isForward: (() => boolean) | null;
  /** For a merge or pick: names those of the given contexts whose status for the merged commit
   * is not `success`; byte string, null: none. Absent for other changes, which need no checks. */
  readonly findUnmet?: (contexts: readonly string[]) => string | null;
}

interface CompiledRule<Rule> {
  readonly wild: WildPattern;
  readonly rule: Rule;
}

/** The rules for the changes of one push. */
export class RefRules {
  readonly #protected: readonly CompiledRule<ProtectedRefs>[];
  readonly #isAdmin: boolean;
  readonly #tokenId: string | null;
  /** Null: the caller's token has no rules. */
  readonly #own: readonly CompiledRule<TokenRefRule>[] | null;
  readonly #budget = new StepBudget(MAX_REF_RULE_STEPS);

  constructor(protectedRefs: readonly ProtectedRefs[], { caller, right }: Pick<Requester, "caller" | "right">) {
    const token = caller.kind === "token" ? caller.token : null;
    this.#protected = protectedRefs.map(compile);
    this.#isAdmin = includesRight(right, "admin");
    this.#tokenId = token?.id ?? null;
    this.#own = token?.refs?.map(compile) ?? null;
  }

  /** Whether no rules apply. */
  get isEmpty(): boolean {
    return this.#protected.length === 0 && this.#own === null;
  }

  /** Explains why a change is refused. All matching rules of the repository apply, but only the
   * first matching rule of a token.
   * @returns one line, byte string; null: the change is allowed
   * @throws GitError "too-large" when matching names and patterns takes too many steps */
  refuse(change: RefChange): string | null {
    const reason = this.#refuseProtected(change) ?? this.#refuseOwn(change);
    return reason === null ? null : `protected: ${reason}`;
  }

  #refuseProtected(change: RefChange): string | null {
    for (const { wild, rule } of this.#protected) {
      if (!wild.matches(change.name, this.#budget)) continue;
      if (!this.#isAllowed(rule)) return `${rule.pattern} may be changed only by admins and chosen tokens`;
      const { noForce, noDelete, fastForwardOnly } = rule;
      const reason =
        findFault(change, { noForce, noDelete: noDelete || fastForwardOnly }) ??
        (fastForwardOnly && isBackward(change) ? "can only be fast-forwarded" : null) ??
        findUnmetChecks(change, rule);
      if (reason !== null) return `${rule.pattern} ${reason}`;
    }
    return null;
  }

  #isAllowed({ allowedTokens }: ProtectedRefs): boolean {
    if (allowedTokens === null || this.#isAdmin) return true;
    return this.#tokenId !== null && allowedTokens.includes(this.#tokenId);
  }

  #refuseOwn(change: RefChange): string | null {
    if (this.#own === null) return null;
    const fits = this.#own.find(({ wild }) => wild.matches(change.name, this.#budget));
    if (fits === undefined) return "this token may not change this ref";
    const reason = findFault(change, fits.rule);
    return reason === null ? null : `with this token ${fits.rule.pattern} ${reason}`;
  }
}

function compile<Rule extends TokenRefRule>(rule: Rule): CompiledRule<Rule> {
  return { wild: new WildPattern(rule.pattern), rule };
}

function findFault(change: RefChange, { noForce, noDelete }: Omit<TokenRefRule, "pattern">): string | null {
  if (noDelete && change.kind === "deletion") return "cannot be deleted";
  if (!noForce || change.kind !== "move") return null;
  // Any move of a tag needs force, as in `git push`.
  if (change.name.startsWith("refs/tags/")) return "cannot be moved";
  return isBackward(change) ? "can only be fast-forwarded" : null;
}

function findUnmetChecks({ findUnmet }: RefChange, { requiredContexts }: ProtectedRefs): string | null {
  const unmet = requiredContexts.length === 0 ? null : (findUnmet?.(requiredContexts) ?? null);
  return unmet === null ? null : `requires checks that have not succeeded: ${unmet}`;
}

function isBackward({ kind, isForward }: RefChange): boolean {
  return kind === "move" && isForward !== null && !isForward();
}
