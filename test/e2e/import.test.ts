/** Imports, from git's own server, from another Holdfast, and from a server of version 0. */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { ImportBench } from "../harness/import-bench.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";
import { passOn, startUpstream } from "../harness/upstream.ts";

let bench: ImportBench;
beforeAll(async () => {
  bench = await ImportBench.open();
});
afterAll(() => bench.close());

test("from git's own server, in steps, as a pack may have fewer objects", async () => {
  const name = await bench.importAll(`${bench.native.url}/history.git`);
  const { steps, objects } = await bench.read(name);
  expect(steps).toBeGreaterThan(1);
  expect(objects).toBe(Number((await git(bench.history, "rev-list", "--objects", "--all")).split("\n").length));
  await bench.expectSame(name, bench.history);
});

test("from one branch that is too much for a pack, in steps along its history", { tags: "sweep" }, async () => {
  const made = await makeHistory({ seed: 5, commits: 400, files: 40, branches: 4, merges: 4 });
  const long = join(bench.root, "long.git");
  await git(bench.root, "clone", "-q", "--bare", "--single-branch", made, long);
  const name = await bench.importAll(`${bench.native.url}/long.git`);
  expect((await bench.read(name)).steps).toBeGreaterThan(3);
  await bench.expectSame(name, long);
});

test("from a server that speaks version 0 only", { tags: "sweep" }, async () => {
  const upstream = await startUpstream((request, response) =>
    passOn(bench.native.url, request, response, { "git-protocol": undefined }),
  );
  try {
    await bench.expectSame(await bench.importAll(`${upstream.url}/history.git`), bench.history);
    expect(upstream.requests.length).toBeGreaterThan(3);
  } finally {
    await upstream.close();
  }
});

test("from another Holdfast, whose private repository wants a token", { tags: "sweep" }, async () => {
  const other = await shareServer("upstream", WITH_TOKENS);
  const authorization = `Basic ${btoa(`any:${ADMIN_TOKEN}`)}`;
  await git(
    bench.history,
    "-c",
    `http.extraHeader=Authorization: ${authorization}`,
    "push",
    "-q",
    "--mirror",
    `${other.url}/upstream/engine`,
  );
  const url = `${other.url}/upstream/engine`;
  const refused = await bench.newRepository();
  await bench.begin(refused, { url });
  const failed = await bench.settled(refused);
  expect(failed).toMatchObject({ state: "failed", error: expect.stringContaining("a valid credential") });
  await bench.expectNothingLeft(refused);
  const name = await bench.newRepository();
  const begun = await bench.begin(name, { url, authorization });
  expect(begun.body).toMatchObject({ hasAuthorization: true });
  expect(await bench.settled(name)).toMatchObject({ state: "done", hasAuthorization: false });
  expect(JSON.stringify([begun.body, await bench.read(name)])).not.toContain(authorization.slice(6));
  await bench.expectSame(name, bench.history);
});

test("with 30,000 refs", { tags: "sweep" }, async () => {
  const many = join(bench.root, "many.git");
  await git(bench.root, "clone", "-q", "--bare", bench.history, many);
  const commits = (await git(many, "rev-list", "--reverse", "main")).split("\n");
  const lines = Array.from({ length: 30_000 }, (_, i) => `${commits[i % commits.length]} refs/tags/many/${i}\n`);
  // As git packs them: a file for each would take a minute.
  await appendFile(join(many, "packed-refs"), lines.join(""));
  await git(many, "pack-refs", "--all");
  const name = await bench.importAll(`${bench.native.url}/many.git`);
  expect((await bench.read(name)).upstreamRefs).toBeGreaterThan(30_000);
  await bench.expectSame(name, many);
});

test("only the refs that are wanted, and an empty one as it is", async () => {
  const name = await bench.importAll(`${bench.native.url}/history.git`, { refs: ["refs/tags/v"] });
  const remote = await git(bench.root, "ls-remote", `${bench.server.url}/${name}`, "refs/*");
  expect(remote).toBe(await git(bench.root, "ls-remote", bench.history, "refs/tags/*"));
  await git(bench.root, "init", "-q", "--bare", "empty.git");
  const empty = await bench.importAll(`${bench.native.url}/empty.git`);
  expect(await bench.read(empty)).toMatchObject({ upstreamRefs: 0, steps: 0 });
});
