/** Repositories that follow an upstream. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { changeRefs } from "../harness/change-refs.ts";
import { git, tryGit } from "../harness/git.ts";
import { ImportBench } from "../harness/import-bench.ts";
import { Random } from "../harness/random.ts";

let bench: ImportBench;
beforeAll(async () => {
  bench = await ImportBench.open();
});
afterAll(() => bench.close());

/** A mirror of a copy of the history.
 * @returns its name, and the copy */
async function follow(copy: string): Promise<{ name: string; dir: string }> {
  const dir = join(bench.root, copy);
  await git(bench.root, "clone", "-q", "--bare", bench.history, dir);
  const name = await bench.newRepository();
  await bench.begin(name, { url: `${bench.native.url}/${copy}`, mirror: true });
  expect(await bench.settled(name)).toMatchObject({ state: "waiting", error: null });
  return { name, dir };
}

test("follows 200 random changes exactly: refs that are new, forced, renamed and gone", async () => {
  const { name, dir } = await follow("followed.git");
  await bench.expectSame(name, dir);
  const random = new Random(18);
  const list = (url: string) => git(bench.root, "ls-remote", "--symref", url, "HEAD", "refs/*");
  for (let changes = 0; changes < 200;) {
    for (const end = changes + 1 + random.below(16); changes < end; changes++)
      await changeRefs(dir, random, `${changes}`);
    expect(await bench.sync(name)).toMatchObject({ error: null });
    expect(await list(`${bench.server.url}/${name}`), `after ${changes} changes`).toBe(await list(dir));
  }
  await bench.expectSame(name, dir);
}, 120_000);

test("takes no other changes until it is released, and keeps what it has", async () => {
  const { name } = await follow("shown.git");
  const push = () => tryGit(bench.history, ["push", `${bench.server.url}/${name}`, "main:refs/heads/mine"]);
  const refused = await push();
  expect(refused.stderr).toMatch(/remote rejected.*this repository mirrors http.*DELETE its import to release it/);
  expect(refused.code).toBe(1);
  const main = await git(bench.history, "rev-parse", "main");
  const writes: [path: string, method: string, json: unknown][] = [
    ["refs/heads%2Fmine", "PUT", { target: main }],
    ["refs/heads%2Fside-1", "DELETE", undefined],
    ["branches", "POST", { name: "mine", startPoint: "main" }],
    ["tags", "POST", { name: "mine", target: "main" }],
    [
      "commits",
      "POST",
      {
        branch: "main",
        message: "m",
        author: { name: "A", email: "a@example.com" },
        operations: [{ op: "put", path: "a", content: "b" }],
      },
    ],
  ];
  for (const [path, method, json] of writes) {
    const { status, body } = await askApi<{ error: { message: string } }>(bench.server, `/repos/${name}/${path}`, {
      method,
      ...(json !== undefined && { json }),
    });
    expect([status, body.error.message], path).toEqual([403, expect.stringContaining("this repository mirrors")]);
  }
  // An upstream that is away for a while changes nothing.
  await git(bench.root, "--git-dir=shown.git", "config", "http.uploadpack", "false");
  expect((await bench.sync(name)).error).toContain("a valid credential");
  await bench.expectSame(name, bench.history);
  expect((await askApi(bench.server, `/repos/${name}/import`, { method: "DELETE" })).status).toBe(204);
  expect((await push()).code).toBe(0);
});
