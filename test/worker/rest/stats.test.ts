import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { appendHistory, importHistory, putFile } from "../../object/tally/authored-history.ts";

let server: Pick<Server, "url">;
let dir: string;
let tip: string;

const DAY_MS = 24 * 60 * 60_000;

beforeAll(async () => {
  server = await shareServer("stats");
  const yesterday = Math.floor(Date.now() / 1_000) - 86_400;
  dir = await importHistory([
    { author: "Old <old@x>", date: "1000000000 +0000", changes: putFile("src/a.ts", "twelve bytes") },
    { author: "J\xfcrgen <j@x>", encoding: "latin1", date: `${yesterday} +0000`, changes: putFile("VERSIONX", "MIT") },
    { author: "Old <OLD@x>", date: `${yesterday} +0000`, changes: putFile(".mailmap", "Older <old@x>") },
  ]);
  tip = await git(dir, "rev-parse", "main");
  await git(dir, "push", "-q", `${server.url}/stats/repo.git`, "main", "main~1:refs/heads/topic", "main:refs/tags/v1");
});

const ask = <Body>(path: string, init: RequestInit = {}) => askApi<Body>(server, `/repos/stats/repo${path}`, init);

test("stats", async () => {
  const { status, body } = await ask("/stats");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    defaultBranch: "main",
    commit: tip,
    commits: 3,
    contributors: 3,
    files: 3,
    bytes: 28,
    branches: 2,
    tags: 1,
    objects: 10,
    pushes: 1,
    firstCommit: "2023-11-14T22:13:20+00:00",
  });
  expect((await ask("/stats?ref=topic")).body).toMatchObject({ commits: 2, files: 2, branches: 2 });
});

test("languages", async () => {
  const typescript = { name: "TypeScript", type: "programming", color: "#3178c6", files: 1, bytes: 12 };
  const { body } = await ask("/languages?ref=topic");
  expect(body).toEqual({
    tree: await git(dir, "rev-parse", "main~1^{tree}"),
    files: 2,
    bytes: 15,
    languages: [typescript],
    other: { files: 1, bytes: 3 },
  });
  expect((await ask(`/languages?ref=${tip}`)).headers.get("Cache-Control")).toContain("immutable");
});

test("contributors come in pages, of one commit though the branch moves on", async () => {
  interface Page {
    commit: string;
    total: number;
    contributors: { name: string; email: string; commits: number }[];
    nextCursor: string | null;
  }
  const first = (await ask<Page>("/contributors?limit=2")).body;
  expect(first).toMatchObject({ commit: tip, total: 3, contributors: [{ name: "J\xfcrgen", commits: 1 }, {}] });
  await appendHistory(dir, [{ author: "New <new@x>", date: "1700000000 +0000" }], "refs/heads/topic", "main~1");
  await git(dir, "push", "-q", `${server.url}/stats/repo.git`, "topic");
  const last = (await ask<Page>(`/contributors?limit=2&cursor=${first.nextCursor}`)).body;
  expect(last).toMatchObject({ commit: tip, total: 3, nextCursor: null, contributors: [{}] });
  const lines = [...first.contributors, ...last.contributors].map(({ name, email }) => `     1\t${name} <${email}>`);
  expect(lines.join("\n")).toBe(await git(dir, "shortlog", "-sne", "main"));
  expect((await ask<Page>("/contributors?ref=topic")).body.contributors).toContainEqual(
    expect.objectContaining({ name: "New", first: "2023-11-14T22:13:20+00:00" }),
  );
});

test("activity is of the last year unless asked otherwise", async () => {
  const { body } = await ask<{ since: string; until: string }>("/activity?per=week");
  expect(body).toMatchObject({ commit: tip, total: 2, periods: [{ commits: 2 }] });
  expect(Date.parse(body.until) - Date.parse(body.since)).toBe(365 * DAY_MS);
  expect((await ask("/activity?since=2001-01-01&until=2001-12-31")).body).toMatchObject({
    total: 1,
    periods: [{ start: "2001-09-09", commits: 1 }],
  });
  expect(await ask("/activity?since=2001-01-01")).toMatchObject({ status: 422, body: { error: { field: "since" } } });
  expect(await ask("/activity?since=yesterday")).toMatchObject({ status: 422, body: { error: { field: "since" } } });
});

test("pushes are listed, the newest first, all or those of one ref", async () => {
  interface Page {
    pushes: { id: number; refs: { name: string }[]; refCount: number; objects: number }[];
    nextCursor: string | null;
  }
  await git(dir, "push", "-q", `${server.url}/stats/repo.git`, ":refs/tags/v1");
  const { body } = await ask<Page>("/pushes");
  expect(body.pushes[0]).toMatchObject({
    refs: [{ name: "refs/tags/v1", old: tip, new: null }],
    refCount: 1,
    packBytes: 0,
    objects: 0,
    who: null,
  });
  const first = body.pushes.at(-1)!;
  expect(first).toMatchObject({ id: 1, refCount: 3, objects: 10 });
  const page = (await ask<Page>("/pushes?ref=v1&limit=1")).body;
  expect(page.pushes).toEqual(body.pushes.slice(0, 1));
  const next = (await ask<Page>(`/pushes?ref=v1&limit=1&cursor=${page.nextCursor}`)).body;
  expect(next.pushes).toMatchObject([{ id: 1, refs: [{ name: "refs/tags/v1", old: null, new: tip }], refCount: 3 }]);
});

test.each(["/stats", "/languages", "/contributors", "/activity", "/pushes"])(
  "%s is not sent again to who has it",
  async (path) => {
    const etag = (await ask(path)).headers.get("ETag")!;
    expect(await ask(path, { headers: { "If-None-Match": etag } })).toMatchObject({ status: 304, body: "" });
  },
);

test.each(["/stats", "/languages", "/contributors", "/activity"])("%s of what is not there", async (path) => {
  expect(await ask(`${path}?ref=none`)).toMatchObject({ status: 404, body: { error: { code: "not-found" } } });
  expect(await askApi(server, `/repos/stats/none${path}`)).toMatchObject({ status: 404 });
  expect(await ask(`${path}?ref=`)).toMatchObject({ status: 422, body: { error: { field: "ref" } } });
});

test.each(["/contributors", "/pushes"])("%s refuses a cursor that it never gave", async (path) => {
  for (const cursor of ["x", "bnVsbA", "eyJmcm9tIjotMX0"]) {
    expect(await ask(`${path}?cursor=${cursor}`)).toMatchObject({ status: 422, body: { error: { field: "cursor" } } });
  }
});
