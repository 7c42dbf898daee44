import { branchRev, refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BRANCHES, TAGS } from "../refs/move-ref.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** One side of a comparison. */
export interface ComparedSide {
  readonly kind: "branch" | "tag" | "commit";
  /** Without `refs/heads/` or `refs/tags/`, byte string. */
  readonly short: string;
}

/** What a comparison can be chosen from. */
export interface ComparePage {
  /** The default branch as URLs name it, byte string; null: HEAD names none. */
  readonly defaultRev: string | null;
  readonly choices: RefChoices;
  /** What each name means. */
  readonly sides: readonly ComparedSide[];
}

/** Lists what can be compared.
 * @param names of sides, byte strings */
export async function comparePage(
  repository: OpenRepository,
  { names }: { names: readonly string[] },
): Promise<ComparePage> {
  const { advertised } = repository;
  const target = advertised.head?.target ?? "";
  return {
    defaultRev: target.startsWith(BRANCHES) ? branchRev(target.slice(BRANCHES.length)) : null,
    choices: listChoices(repository),
    sides: names.map((name) => {
      const full = refsNamed(advertised, name)[0]?.name ?? "";
      if (full.startsWith(BRANCHES)) return { kind: "branch", short: full.slice(BRANCHES.length) };
      return full.startsWith(TAGS) ? { kind: "tag", short: full.slice(TAGS.length) } : { kind: "commit", short: name };
    }),
  };
}
