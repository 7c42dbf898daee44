import { beforeAll, expect, test } from "vitest";
import { log } from "../../../src/object/history/log.ts";
import type { LogQuery } from "../../../src/contract/history.ts";
import { git } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { makeTangledHistory, type TangledHistory } from "./tangled-history.ts";

let histories: TangledHistory[];

beforeAll(async () => {
  histories = await Promise.all([4, 12, 40].map((width, seed) => makeTangledHistory(seed + 10, 120, width)));
});

const EVERYTHING: LogQuery = {
  ref: "HEAD",
  path: null,
  since: null,
  until: null,
  author: null,
  text: null,
  ignoreCase: false,
  firstParent: false,
  follow: false,
  place: null,
  limit: 100,
};

/** All pages, one after the other. */
async function collect({ repository }: TangledHistory, query: LogQuery): Promise<string[]> {
  const oids: string[] = [];
  for (let place = query.place; ;) {
    const page = await log(repository, { ...query, place });
    expect(page.commits.length).toBeLessThanOrEqual(query.limit);
    oids.push(...page.commits.map(({ oid }) => oid));
    if (page.next === null) return oids;
    place = page.next;
  }
}

async function askGit({ dir }: TangledHistory, query: LogQuery): Promise<string[]> {
  const args = ["log", "--format=%H", "-F", query.ref];
  if (query.since !== null) args.push(`--since=@${query.since}`);
  if (query.until !== null) args.push(`--until=@${query.until}`);
  if (query.author !== null) args.push(`--author=${query.author}`);
  if (query.text !== null) args.push(`--grep=${query.text}`, "--all-match");
  if (query.ignoreCase) args.push("-i");
  if (query.firstParent) args.push("--first-parent");
  if (query.follow) args.push("--follow");
  if (query.path !== null) args.push("--", query.path);
  return (await git(dir, ...args)).split("\n").filter(Boolean);
}

test("any history comes as git lists it, in pages of any size", { tags: "sweep" }, async () => {
  const random = new Random(3);
  const maybe = <T>(choose: () => T): T | null => (random.below(3) === 0 ? choose() : null);
  for (const history of histories) {
    const time = async () => Number(await git(history.dir, "log", "-1", "--format=%ct", random.pick(history.oids)));
    for (let round = 0; round < 25; round++) {
      const path = random.pick([null, "file", "dir", "dir/sub", "dir/sub/file", "dir/other", "nothing", "file/below"]);
      const query: LogQuery = {
        ...EVERYTHING,
        ref: random.pick(history.oids),
        path,
        follow: path !== null && random.below(3) === 0,
        since: await maybe(time),
        until: await maybe(time),
        author: maybe(() => random.pick(["A1", "a1", "0 <a@", "example.com>", "nobody"])),
        text: maybe(() => random.pick(["commit 1", "COMMIT", "7", "nothing like this"])),
        ignoreCase: random.below(2) === 0,
        firstParent: random.below(3) === 0,
        limit: random.pick([1, 2, 7, 100]),
      };
      expect([query, await collect(history, query)]).toEqual([query, await askGit(history, query)]);
    }
  }
});

test("a commit of a page is whole", async () => {
  const [{ dir, oids, repository }] = histories as [TangledHistory];
  const ref = oids.at(-1)!;
  const { commits, next } = await log(repository, { ...EVERYTHING, ref, limit: 1 });
  const [oid, tree, parents, email] = (await git(dir, "log", "-1", "--format=%H|%T|%P|%ae", ref)).split("|");
  expect(commits).toMatchObject([
    { oid, tree, parents: parents!.split(" "), author: { email }, message: "commit 120" },
  ]);
  expect(next).not.toBeNull();
});

test("a place is checked: it comes from outside", async () => {
  const [{ repository }] = histories as [TangledHistory];
  const { tables } = repository;
  const tree = tables.graph.tree(0);
  for (const open of [[0], [-5], [tree], [2 ** 40]]) {
    const asked = log(repository, { ...EVERYTHING, place: { open, walked: [], path: null } });
    await expect(asked).rejects.toMatchObject({ code: "invalid", data: { field: "cursor" } });
  }
});
