// Which refs may move, and how. What a repository's rules and a caller's token say of a change is decided here alone, whatever door the change
// comes by: a push, a commit through the API, a merge, a rename.
import { MAX_REF_RULE_STEPS } from "../format/limits.ts";
import { StepBudget } from "../format/step-budget.ts";
import { WildPattern } from "../format/wildmatch.ts";
import { includesRight, type Requester, type TokenRefRule } from "./caller.ts";

/** Refs that a repository protects. What is forbidden is forbidden to everybody: an admin can change the rule. */
export interface ProtectedRefs extends TokenRefRule {
  /** They only grow: no deletion, and no move but to a descendant, tags included. */
  readonly fastForwardOnly: boolean;
  /** Ids of the tokens that may change them besides admins; null: whoever may write. */
  readonly allowedTokens: readonly string[] | null;
}

/** A change of a ref. */
export interface RefChange {
  /** Full, byte string. */
  readonly name: string;
  readonly kind: "creation" | "move" | "deletion";
  /** Of a move: whether it leads to a descendant; null: that cannot be told yet, and holds nobody up. */
  readonly isForward: (() => boolean) | null;
}

interface CompiledRule<Rule> {
  readonly wild: WildPattern;
  readonly rule: Rule;
}

/** The rules that hold for the changes of one push. */
export class RefRules {
  readonly #protected: readonly CompiledRule<ProtectedRefs>[];
  readonly #isAdmin: boolean;
  readonly #tokenId: string | null;
  /** Null: the caller is bound to no refs. */
  readonly #own: readonly CompiledRule<TokenRefRule>[] | null;
  readonly #budget = new StepBudget(MAX_REF_RULE_STEPS);

  constructor(protectedRefs: readonly ProtectedRefs[], { caller, right }: Pick<Requester, "caller" | "right">) {
    const token = caller.kind === "token" ? caller.token : null;
    this.#protected = protectedRefs.map(compile);
    this.#isAdmin = includesRight(right, "admin");
    this.#tokenId = token?.id ?? null;
    this.#own = token?.refs?.map(compile) ?? null;
  }

  /** Whether nothing is forbidden. */
  get isEmpty(): boolean {
    return this.#protected.length === 0 && this.#own === null;
  }

  /** Says why a change may not be: all protecting rules that fit hold, and of a token's the first that fits.
   * @returns one line, byte string; null: it may
   * @throws GitError "too-large" when names and patterns cost too much to match */
  refuse(change: RefChange): string | null {
    const reason = this.#refuseProtected(change) ?? this.#refuseOwn(change);
    return reason === null ? null : `protected: ${reason}`;
  }

  #refuseProtected(change: RefChange): string | null {
    for (const { wild, rule } of this.#protected) {
      if (!wild.matches(change.name, this.#budget)) continue;
      if (!this.#isAllowed(rule)) return `${rule.pattern} is for admins and chosen tokens`;
      const { noForce, noDelete, fastForwardOnly } = rule;
      const reason =
        findFault(change, { noForce, noDelete: noDelete || fastForwardOnly }) ??
        (fastForwardOnly && isBackward(change) ? "only goes forward" : null);
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
    if (fits === undefined) return "this token is for other refs";
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
  if (change.name.startsWith("refs/tags/")) return "does not move";
  return isBackward(change) ? "only goes forward" : null;
}

function isBackward({ kind, isForward }: RefChange): boolean {
  return kind === "move" && isForward !== null && !isForward();
}
