import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;
let dir: string;

beforeAll(async () => {
  server = await shareServer("odd-names");
  // Names in Latin-1, and some that look like them when they are decoded wrongly.
  dir = await makeOddRepository([
    { branch: "main", files: { '"d\\351r/lat\\351.txt"': "word\n", "lat%E9.txt": "word\n", "a+b c.txt": "word\n" } },
    { branch: "main", files: { '"d\\351r/lat\\351.txt"': "word, again\n" } },
  ]);
  await git(dir, "push", "-q", `${server.url}/odd-names/repo.git`, "main");
});

const ask = <Body>(below: string, method = "GET") => askApi<Body>(server, `/repos/odd-names/repo/${below}`, { method });

test("a path of a query is taken as bytes, wherever one may be", async () => {
  const [last, first] = (await git(dir, "rev-list", "main")).split("\n");
  type Log = { commits: { oid: string }[] };
  const log = async (path: string) => (await ask<Log>(`log?path=${path}`)).body.commits.map(({ oid }) => oid);
  expect(await log("d%E9r/lat%E9.txt")).toEqual([last, first]);
  expect(await log("/d%e9r/")).toEqual([last, first]);
  expect(await log("lat%25E9.txt")).toEqual([first]);
  expect(await log("a%2Bb+c.txt")).toEqual([first]);
  expect(await log("lat%E9.txt")).toEqual([]);

  type Files = { entries: { oid: string }[]; files: { oid: string }[] };
  const blob = /blob (\w+)\t"d/.exec(await git(dir, "ls-tree", "-r", "main"))![1]!;
  expect((await ask<Files>("files?path=d%E9r")).body.entries).toMatchObject([{ oid: blob }]);
  expect((await ask<Files>("files/all?path=d%E9r")).body.files).toMatchObject([{ oid: blob }]);
  expect((await ask<Files>("files?path=d%C3%A9r")).status).toBe(404);

  type Found = { matches: { oid: string }[] };
  expect((await ask<Found>("grep?pattern=word&path=d%E9r/**")).body.matches).toMatchObject([{ oid: blob }]);
  expect((await ask<Found>("grep?pattern=word&path=d%E9r&path=lat%25E9.txt")).body.matches).toHaveLength(2);

  const response = await fetch(`${server.url}/api/repos/odd-names/repo/archive/main.tar?path=d%E9r`);
  const { stdoutBytes } = await tryGit(dir, ["archive", "main", ":(glob)d*/**"]);
  expect(Buffer.from(await response.arrayBuffer()).equals(stdoutBytes)).toBe(true);
});

test("a text that is not UTF-8 is refused, so that it is not taken for another", async () => {
  const refused = (field?: string) => ({ status: 422, body: { error: { code: "invalid", ...(field && { field }) } } });
  for (const query of ["log?ref=lat%E9", "log?author=%E9", "grep?pattern=%ff", "files?ref=%C3"]) {
    expect(await ask(query)).toMatchObject(refused(/\?(\w+)=/.exec(query)![1]));
  }
  for (const [method, below] of [
    ["GET", "branches/lat%E9"],
    ["DELETE", "branches/lat%E9"],
    ["GET", "tags/%ff"],
    ["DELETE", "refs/heads/x/%E9"],
    ["GET", "compare/main...%E9"],
    ["GET", "commits/%E9"],
  ] as const)
    expect(await ask(below, method)).toMatchObject(refused());
});

test("a search page whose address is not UTF-8 says so, instead of finding nothing", async () => {
  const status = async (query: string) =>
    (await fetch(`${server.url}/odd-names/repo/search?${query}`, { headers: { Accept: "text/html" } })).status;
  expect(await status("q=word&path=d%E9r")).toBe(422);
  expect(await status("q=word&path=d%C3%A9r")).toBe(200);
});
