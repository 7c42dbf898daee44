import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeCursor } from "../../harness/made-cursor.ts";

interface Page {
  readonly commits: { readonly oid: string }[];
  readonly nextCursor: string | null;
}

let server: Pick<Server, "url">;
let dir: string;

beforeAll(async () => {
  [server, dir] = await Promise.all([
    shareServer("logs"),
    makeHistory({ commits: 40, files: 20, branches: 6, merges: 4, upheavals: 4 }),
  ]);
  await git(dir, "push", "-q", "--mirror", `${server.url}/logs/repo.git`);
});

const ask = (query: string, headers = {}) => askApi<Page>(server, `/repos/logs/repo/log${query}`, { headers });

const list = async (...args: string[]) => (await git(dir, "log", "--format=%H", ...args)).split("\n");

test("pages follow on each other, each with the tag of what it depends on", async () => {
  const expected = await list("main");
  const first = await ask("?limit=30");
  expect(first).toMatchObject({ status: 200, body: { nextCursor: expect.any(String) } });
  expect(first.body.commits.map(({ oid }) => oid)).toEqual(expected.slice(0, 30));
  const second = await ask(`?limit=100&cursor=${first.body.nextCursor}`);
  expect(second.body.commits.map(({ oid }) => oid)).toEqual(expected.slice(30));
  expect(second.body.nextCursor).toBeNull();
  const etag = first.headers.get("ETag")!;
  expect(await ask("?limit=30", { "If-None-Match": etag })).toMatchObject({ status: 304, body: "" });
  expect(await ask("?ref=main~1", { "If-None-Match": etag })).toMatchObject({ status: 200 });
  const immutable = await ask(`?ref=${expected[0]}`);
  expect(immutable.headers.get("Cache-Control")).toContain("immutable");
});

test("what git log takes may be asked for", async () => {
  const path = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n")[3]!;
  const folder = path.split("/")[0]!;
  const oids = async (query: string) => (await ask(query)).body.commits.map(({ oid }) => oid);
  expect(await oids(`?limit=100&path=${path}`)).toEqual(await list("main", "--", path));
  expect(await oids(`?limit=100&path=/${folder}/`)).toEqual(await list("main", "--", folder));
  expect(await oids(`?limit=100&firstParent=true&ref=side-5`)).toEqual(await list("--first-parent", "side-5"));
  const since = await git(dir, "log", "-1", "--format=%cI", "main~10");
  expect(await oids(`?limit=100&since=${encodeURIComponent(since)}`)).toEqual(await list("main", `--since=${since}`));
  const author = await git(dir, "log", "-1", "--format=%an <%ae>", "main");
  expect(await oids(`?author=${encodeURIComponent(author)}&limit=100`)).toEqual(
    await list("main", "-F", `--author=${author}`),
  );
  const text = (await git(dir, "log", "-1", "--format=%s", "main~5")).toUpperCase();
  expect(await oids(`?text=${encodeURIComponent(text)}&ignoreCase=true&limit=100`)).toEqual(
    await list("main", "-i", "-F", `--grep=${text}`),
  );
  expect(await oids(`?text=${encodeURIComponent(`${text}?`)}&limit=100`)).toEqual([]);
});

test.each([
  ["?ref=nothing", 404, "not-found", undefined],
  ["?ref=main:", 422, "wrong-type", undefined],
  ["?limit=101", 422, "invalid", "limit"],
  ["?since=yesterday", 422, "invalid", "since"],
  ["?firstParent=1", 422, "invalid", "firstParent"],
  ["?cursor=e30", 422, "invalid", "cursor"],
  [`?cursor=${makeCursor("/log", "{}")}`, 422, "invalid", "cursor"],
  [`?cursor=${makeCursor("/log", '{"open":[1e9],"walked":[],"path":null}')}`, 422, "invalid", "cursor"],
])("%s is refused", async (query, status, code, field) => {
  expect(await ask(query)).toMatchObject({ status, body: { error: field === undefined ? { code } : { code, field } } });
});

test("merge bases of two commits, and of several", async () => {
  const find = async (...refs: string[]) => (await git(dir, "merge-base", "--all", ...refs)).split("\n");
  const base = await git(dir, "rev-parse", "main");
  const ask = (query: string) => askApi(server, `/repos/logs/repo/merge-base${query}`);
  const both = await Promise.all(["side-5", "side-1"].map((ref) => git(dir, "rev-parse", ref)));
  expect(await ask("?base=main&head=side-5")).toMatchObject({
    status: 200,
    body: { base, heads: [both[0]], mergeBases: await find("main", "side-5") },
  });
  expect(await ask("?base=main&head=side-5&head=side-1")).toMatchObject({
    body: { heads: both, mergeBases: await find("main", "side-5", "side-1") },
  });
  expect(await ask("?base=main")).toMatchObject({ status: 422, body: { error: { field: "head" } } });
});
