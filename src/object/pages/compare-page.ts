import { branchRev } from "../../base/format/ref-name.ts";
import { refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BRANCHES, TAGS } from "../refs/move-ref.ts";
import { listChoices } from "./ref-choices.ts";
import type { ComparePage } from "../../contract/pages.ts";

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
