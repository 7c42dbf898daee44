import { refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BRANCHES, TAGS } from "../refs/move-ref.ts";
import { listChoices, type RefChoices } from "./ref-choices.ts";

/** What a comparison can be chosen from. */
export interface ComparePage {
  /** Without `refs/heads/`, byte string; null: HEAD names no branch. */
  readonly defaultBranch: string | null;
  readonly choices: RefChoices;
  /** What each name is. */
  readonly kinds: readonly ("branch" | "tag" | "commit")[];
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
    defaultBranch: target.startsWith(BRANCHES) ? target.slice(BRANCHES.length) : null,
    choices: listChoices(repository),
    kinds: names.map((name) => {
      const [ref] = refsNamed(advertised, name);
      if (ref?.name === BRANCHES + name) return "branch";
      return ref?.name === TAGS + name ? "tag" : "commit";
    }),
  };
}
