/** What is found by a path, beside git: with the filters of all commits, of some, and of none. */
import { beforeAll, describe, expect, test } from "vitest";
import { listDirectory } from "../../../src/object/files/list-files.ts";
import { blame } from "../../../src/object/history/blame.ts";
import { log } from "../../../src/object/history/log.ts";
import type { LogQuery } from "../../../src/contract/history.ts";
import type { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { readPorcelain, spreadRanges } from "../../harness/blamed-lines.ts";
import { git } from "../../harness/git.ts";
import { LONG_FILE, type LongHistoryShape, makeLongHistory } from "../../harness/long-history.ts";
import { Random } from "../../harness/random.ts";
import { filterSome, openFor, pushAll, reopen } from "./filtered-repository.ts";

const TIP = "refs/heads/main";

const lines = (text: string): string[] => text.split("\n").filter(Boolean);

/** All pages of a log. */
async function collect(repository: OpenRepository, query: Omit<LogQuery, "place">): Promise<string[]> {
  const oids: string[] = [];
  for (let place: LogQuery["place"] = null; ;) {
    const page = await log(repository, { ...query, place });
    oids.push(...page.commits.map(({ oid }) => oid));
    if (page.next === null) return oids;
    place = page.next;
  }
}

/** What git finds of a path. */
interface Expected {
  readonly path: string;
  readonly isFile: boolean;
  readonly log: readonly string[];
  readonly firstParent: readonly string[];
  readonly follow: readonly string[] | null;
  /** null: of a directory. */
  readonly blame: readonly string[] | null;
}

async function askGit(dir: string, path: string, isFile: boolean): Promise<Expected> {
  const list = async (...options: readonly string[]): Promise<string[]> =>
    lines(await git(dir, "log", "--format=%H", ...options, TIP, "--", path));
  return {
    path,
    isFile,
    log: await list(),
    firstParent: await list("--first-parent"),
    follow: isFile ? await list("--follow") : null,
    blame: isFile ? readPorcelain(await git(dir, "blame", "--porcelain", TIP, "--", path)) : null,
  };
}

async function find(repository: OpenRepository, { path, isFile }: Expected, commit: string): Promise<Expected> {
  const query = {
    ref: TIP,
    path,
    since: null,
    until: null,
    author: null,
    text: null,
    ignoreCase: false,
    firstParent: false,
    follow: false,
  };
  return {
    path,
    isFile,
    log: await collect(repository, { ...query, limit: 30 }),
    firstParent: await collect(repository, { ...query, firstParent: true, limit: 100 }),
    follow: isFile ? await collect(repository, { ...query, follow: true, limit: 100 }) : null,
    blame: isFile ? spreadRanges((await blame(repository, { commit, path, lines: null })).ranges) : null,
  };
}

/** What git finds in a history. */
interface Findings {
  readonly dir: string;
  readonly tip: string;
  readonly paths: readonly Expected[];
  /** Of files and directories two levels deep. */
  readonly lastCommits: ReadonlyMap<string, string>;
  /** The root and those in it. */
  readonly directories: readonly string[];
}

async function makeFindings(shape: LongHistoryShape, pathCount: number): Promise<Findings> {
  const dir = await makeLongHistory(shape);
  const random = new Random(shape.seed ?? 1);
  const files = lines(await git(dir, "ls-tree", "-r", "--name-only", TIP));
  const trees = lines(await git(dir, "ls-tree", "-r", "-d", "--name-only", TIP));
  // Files that are gone by now have a history, too, and names that never were have none.
  const former = lines(await git(dir, "log", "--diff-filter=D", "--no-renames", "--name-only", "--format=", TIP));
  const names = [LONG_FILE, "LICENSE", "version.txt", "src", "src/no-such-file", ...former.slice(0, 3)];
  while (names.length < pathCount) names.push(random.pick(random.below(4) === 0 ? trees : files));
  const isFile = new Set(files);
  const paths: Expected[] = [];
  for (const name of names) paths.push(await askGit(dir, name, isFile.has(name)));
  const lastCommits = new Map<string, string>();
  for (const path of [...trees, ...files]) {
    if (path.split("/").length <= 2)
      lastCommits.set(path, (await git(dir, "log", "-1", "--format=%H", TIP, "--", path)).trim());
  }
  const directories = ["", ...trees.filter((tree) => !tree.includes("/"))];
  return { dir, tip: await git(dir, "rev-parse", TIP), paths, lastCommits, directories };
}

/** Tests so many random paths of a history, and the last commits of its directories. */
export function testPathResults(shape: LongHistoryShape, pathCount: number): void {
  describe(`${pathCount} random paths`, () => {
    let expected: Findings;
    beforeAll(async () => {
      expected = await makeFindings(shape, pathCount);
    });

    test.for([
      ["no filters", 0],
      ["the filters of half of the commits", Math.floor(shape.commits / 2)],
      ["all filters", Infinity],
    ] as const)("log and blame are git's with %s", async ([, most]) => {
      const repository = await pushAll(expected.dir);
      if (most > 0) await filterSome(repository, most);
      // A new life: nothing that was found before is in memory.
      const opened = openFor(reopen(repository));
      for (const one of expected.paths) expect(await find(opened, one, expected.tip)).toEqual(one);
      for (const path of expected.directories) {
        const { entries, lastCommits } = await listDirectory(opened, { ref: TIP, path, lastCommits: true });
        const found = entries.paths.map((name, i) => {
          const whole = path === "" ? name : `${path}/${name}`;
          return [whole, lastCommits!.commits[lastCommits!.indexes[i]!]?.oid];
        });
        expect(found).toEqual(found.map(([whole]) => [whole, expected.lastCommits.get(whole!)]));
      }
    });
  });
}
