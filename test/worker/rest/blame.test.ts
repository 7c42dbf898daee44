import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;
let dir: string;
let path: string;

beforeAll(async () => {
  [server, dir] = await Promise.all([shareServer("blame"), makeHistory({ commits: 30, files: 4, upheavals: 2 })]);
  await git(dir, "push", "-q", "--mirror", `${server.url}/blame/repo.git`);
  await git(dir, "push", "-q", `${server.url}/blame/repo.git`, "main:refs/heads/topic/one");
  path = (await git(dir, "ls-tree", "-r", "--name-only", "main")).split("\n")[0]!;
});

const ask = (rest: string, headers = {}) =>
  askApi<{ ranges: unknown[] }>(server, `/repos/blame/repo/blame/${rest}`, { headers });

test("a file's lines, by any name of a commit", async () => {
  const commit = await git(dir, "rev-parse", "main");
  const lines = (await git(dir, "cat-file", "blob", `main:${path}`)).split("\n").length;
  const [first, ...others] = await Promise.all(
    ["main", "topic/one", "topic%2fone", commit].map((ref) => ask(`${ref}/${path}`)),
  );
  expect(first).toMatchObject({ status: 200, body: { commit, path, truncated: false } });
  const ranges = first!.body.ranges as { start: number; count: number }[];
  expect(ranges.reduce((sum, { count }) => sum + count, 0)).toBe(lines);
  for (const { body } of others) expect(body).toEqual(first!.body);
  const etag = first!.headers.get("ETag")!;
  expect(await ask(`main/${path}`, { "If-None-Match": etag })).toMatchObject({ status: 304, body: "" });
  expect(others.at(-1)!.headers.get("Cache-Control")).toContain("immutable");
  expect((await ask(`main/${path}?lines=2,3`)).body.ranges[0]).toMatchObject({ start: 2 });
});

test.each([
  ["main/nothing", 404, "not-found"],
  ["nothing/file", 404, "not-found"],
  ["main", 404, "not-found"],
  ["main/dir-0?lines=1", 422, "invalid"],
  ["main/dir-0?lines=3,2", 422, "invalid"],
  ["main/dir-0", 422, "wrong-type"],
])("%s is refused", async (rest, status, code) => {
  expect(await ask(rest)).toMatchObject({ status, body: { error: { code } } });
});
