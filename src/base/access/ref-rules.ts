// Which refs may change, and how. This file alone applies a repository's rules and a token's,
// whatever causes the change: a push, a commit through the API, a merge, a rename.
import { MAX_REF_RULE_STEPS } from "../format/limits.ts";
import { StepBudget } from "../format/step-budget.ts";
import { WildPattern } from "../format/wildmatch.ts";
import { includesRight, type Requester, type TokenRefRule } from "./caller.ts";

/** Bytes of a rule's pattern. */
export const MAX_PATTERN_BYTES = 200;

/** Rules of one repository: every change of a ref is checked against each. */
export const MAX_PROTECTED = 100;

/** Tokens that one rule allows. */
export const MAX_ALLOWED_TOKENS = 100;

/** Checks that one rule requires, and characters of the context of a status, by which it names
 * them. */
export const MAX_REQUIRED_CONTEXTS = 20;
export const MAX_CONTEXT_CHARS = 200;

/** Rules of one token. The limit is low because they travel with each request to the repository's
 * object, in a push within a header. */
export const MAX_TOKEN_RULES = 20;

/** Refs that a repository protects. A rule binds everyone; an admin can change the rule. */
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
  /** Full, byte string. */
  readonly name: string;
  readonly kind: "creation" | "move" | "deletion";
  /** For a move: whether it goes to a descendant; null: not known yet, and then not refused. */
  readonly isForward: (() => boolean) | null;
  /** Of a merge or pick: says which of these contexts are no success for the commit that is merged;
   * byte string, null: all are. Other changes need no checks. */
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

  /** Whether there are no rules. */
  get isEmpty(): boolean {
    return this.#protected.length === 0 && this.#own === null;
  }

  /** Says why a change is refused. All matching rules of the repository apply; of a token's, the
   * first that matches.
   * @returns one line, byte string; null: it is allowed
   * @throws GitError "too-large" when matching names and patterns costs too much */
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
  // What `git push` needs force for.
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
