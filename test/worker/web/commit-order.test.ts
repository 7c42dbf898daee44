/** The commits beside a graph: whatever clocks said, each is below its children. */
import { beforeAll, expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;

beforeAll(async () => {
  server = await shareServer("ordered");
});

const COMMITS = 150;

/** The times of commits, by their number. */
const CLOCKS: readonly [name: string, timeOf: (i: number, random: Random) => number][] = [
  ["equal", () => 1_700_000_000],
  ["few", (i) => 1_700_000_000 + Math.floor(i / 40)],
  ["wrong", (_, random) => 1_700_000_000 + random.below(1_000)],
  ["right", (i) => 1_700_000_000 + i * 60],
];

/** Makes a history of branches and merges, and pushes it. */
async function pushHistory(name: string, timeOf: (i: number, random: Random) => number): Promise<string> {
  const dir = await makeRepository(name);
  const random = new Random(22);
  const lines: string[] = [];
  for (let i = 1; i <= COMMITS; i++) {
    const message = `commit ${i}`;
    lines.push("commit refs/heads/other", `mark :${i}`, `committer A <a@example.com> ${timeOf(i, random)} +0000`);
    lines.push(`data ${message.length}`, message);
    const parents = new Set(i === 1 ? [] : [Math.max(1, i - 1 - random.below(4))]);
    if (i > 5 && random.below(3) === 0) parents.add(i - 1 - random.below(5));
    if (i === COMMITS) for (let back = 1; back < 5; back++) parents.add(i - back);
    for (const [n, parent] of [...parents].entries()) lines.push(`${n === 0 ? "from" : "merge"} :${parent}`);
  }
  lines.push("reset refs/heads/main", `from :${COMMITS}`, "done", "");
  const { code } = await tryGit(dir, ["fast-import", "--quiet", "--force", "--done"], {
    stdin: Buffer.from(lines.join("\n")),
  });
  expect(code).toBe(0);
  await git(dir, "push", "-q", `${server.url}/ordered/${name}`, "main");
  return dir;
}

/** The ids on all pages, in their order. */
async function readPages(name: string): Promise<string[]> {
  const oids: string[] = [];
  let next: string | null = `/ordered/${name}/commits/main`;
  while (next !== null) {
    const html = await (await fetch(server.url + next, { headers: { Accept: "text/html" } })).text();
    oids.push(...[...html.matchAll(/class="subject" href="[^"]*\/commit\/([0-9a-f]{40})"/g)].map(([, oid]) => oid!));
    next = /href="([^"]*[?&;]after=[^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? null;
  }
  return oids;
}

test.each(CLOCKS)("no commit is above its children when clocks are %s", async (name, timeOf) => {
  const dir = await pushHistory(name, timeOf);
  const shown = await readPages(name);
  const log = await git(dir, "log", "--date-order", "--format=%H %P", "main");
  const all = log.split("\n").map((line) => line.trim().split(" "));
  expect(shown.toSorted()).toEqual(all.map(([oid]) => oid!).toSorted());
  const place = new Map(shown.map((oid, i) => [oid, i]));
  for (const [oid, ...parents] of all)
    for (const parent of parents) expect(place.get(parent)).toBeGreaterThan(place.get(oid!)!);
  if (name === "right") expect(shown).toEqual(all.map(([oid]) => oid));
});
