// Search for repositories by a part of their names.
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import type { RepositoryEntry, FoundPage } from "../../../contract/registry.ts";

/** Number of repositories examined for one page of a search, and at a time. */
const MAX_SEARCHED = 2_000;
const SEARCHED_AT_ONCE = 500;

/** Finds the listed repositories whose names contain a text. A page may be short or empty, although
 * it is not the last.
 * @param text part of `owner/name`, in any case
 * @param after only names after this one; null: from the beginning
 * @param list as `listRepositories` */
export function searchRepositories(
  text: string,
  after: RepositoryName | null,
  limit: number,
  list: (after: RepositoryName | null, limit: number) => RepositoryEntry[],
): FoundPage {
  const wanted = text.toLowerCase();
  const atOnce = wanted === "" ? limit + 1 : SEARCHED_AT_ONCE;
  const entries: RepositoryEntry[] = [];
  let last = after;
  for (let searched = 0; searched < MAX_SEARCHED;) {
    const page = list(last, atOnce);
    for (const entry of page) {
      if (`${entry.owner}/${entry.name}`.toLowerCase().includes(wanted)) {
        if (entries.length === limit) return { entries, next: last };
        entries.push(entry);
      }
      last = entry;
    }
    if (page.length < atOnce) return { entries, next: null };
    searched += page.length;
  }
  return { entries, next: last };
}
