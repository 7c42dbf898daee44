import { encodeText } from "../../base/format/byte-string.ts";
import { toHex } from "../../base/format/oid.ts";
import type { FileSum } from "../store/index/tree-sum-table.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { peel, resolveRevision } from "../objects/revision.ts";
import { languageById } from "../../base/languages/language.ts";
import { sumTree } from "./tree-sums.ts";
import type { Languages, LanguageSum } from "../../contract/tally.ts";

/** Sums up the files of a revision's tree by language. Vendored, generated and documentation files
 * count too; symbolic links and submodules do not. So the totals are those of `git ls-tree -r -l`.
 * @throws GitError as `resolveRevision`, "wrong-type" for a blob */
export async function languages(repository: OpenRepository, ref: string): Promise<Languages> {
  const tree = peel(repository, await resolveRevision(repository, encodeText(ref), "commit"), "tree");
  const sums = await sumTree(repository, tree.number);
  const byLanguage = sums.flatMap(([id, files, bytes]) => {
    const language = languageById(id);
    return language === null ? [] : [{ ...pick(language), files, bytes }];
  });
  const other = sums.filter(([id]) => languageById(id) === null);
  return {
    tree: toHex(tree.oid),
    ...addUp(sums),
    languages: byLanguage.sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1)),
    other: addUp(other),
  };
}

/** Total files and bytes. */
export function addUp(sums: readonly FileSum[]): LanguageSum {
  const bounded = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);
  return {
    files: bounded(sums.reduce((sum, [, files]) => sum + files, 0)),
    bytes: bounded(sums.reduce((sum, [, , bytes]) => sum + bytes, 0)),
  };
}

function pick({ name, type, color }: { name: string; type: string; color: string | null }) {
  return { name, type, color };
}
