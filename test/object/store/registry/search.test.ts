import { expect, test } from "vitest";
import type { RepositoryName } from "../../../../src/base/format/repository-name.ts";
import type { RepositoryEntry } from "../../../../src/contract/registry.ts";
import { searchRepositories } from "../../../../src/object/store/registry/search.ts";

const COUNT = 5_000;
const ENTRIES = Array.from(
  { length: COUNT },
  (_, i) => ({ owner: "Me", name: `r${String(i).padStart(5, "0")}` }) as RepositoryEntry,
);

let read = 0;
function list(after: RepositoryName | null, limit: number): RepositoryEntry[] {
  const start = after === null ? 0 : ENTRIES.findIndex(({ name }) => name === after.name) + 1;
  const page = ENTRIES.slice(start, start + limit);
  read += page.length;
  return page;
}

test("one page looks at so many repositories at most, and the next goes on from there", () => {
  const found: string[] = [];
  let [pages, after] = [0, null as RepositoryName | null];
  do {
    read = 0;
    const page = searchRepositories("4999", after, 50, list);
    expect(read).toBeLessThanOrEqual(2_000);
    found.push(...page.entries.map(({ name }) => name));
    after = page.next;
    pages += 1;
  } while (after !== null && pages < 10);
  expect([found, pages]).toEqual([["r04999"], 3]);
});

test("pages of what is found leave nothing out and repeat nothing", () => {
  const found: string[] = [];
  let after: RepositoryName | null = null;
  do {
    const page = searchRepositories("ME/R0000", after, 3, list);
    expect(page.entries.length).toBeLessThanOrEqual(3);
    found.push(...page.entries.map(({ name }) => name));
    after = page.next;
  } while (after !== null);
  expect(found).toEqual(ENTRIES.slice(0, 10).map(({ name }) => name));
});

test("without a text, no more is read than is shown", () => {
  read = 0;
  expect(searchRepositories("", null, 50, list).entries).toHaveLength(50);
  expect(read).toBe(51);
});
