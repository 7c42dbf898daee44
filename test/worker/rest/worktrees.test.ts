import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { commitFiles, listFiles } from "../../object/worktree/worktree-harness.ts";

let server: Server;
let dir: string;

beforeAll(async () => {
  server = await startServer();
  dir = await makeRepository("source.git", "--bare");
});

afterAll(() => server.close());

interface Shown {
  readonly branches: string[] | null;
  readonly worktrees: {
    branch: string;
    state: string;
    tip: string | null;
    materialized: string | null;
    files: number;
    bytes: number;
    error: string | null;
  }[];
}

const ask = (repository: string, json?: unknown) =>
  askApi<Shown>(server, `/repos/me/${repository}/worktrees`, json === undefined ? {} : { method: "PUT", json });

/** Waits for given states of the worktrees: pairs of branch and state. */
async function waitFor(repository: string, states: readonly (readonly [string, string])[]): Promise<Shown> {
  for (let tries = 0; ; tries++) {
    const { body } = await ask(repository);
    const shown = body.worktrees.map(({ branch, state }) => [branch, state]);
    if (JSON.stringify(shown) === JSON.stringify(states)) return body;
    if (tries === 400) throw new Error(`worktrees are still ${JSON.stringify(body)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const push = (repository: string, ...refspecs: string[]) =>
  git(dir, "push", "-q", `${server.url}/me/${repository}.git`, ...refspecs);

/** Compares the R2 objects of a branch with git: modes and ids by path. */
async function expectObjects(folder: string, revision: string): Promise<void> {
  const objects = await server.readObjects(`/worktrees/${folder}/`);
  const shown = [...objects].map(([key, { bytes, metadata }]): [string, string] => {
    const oid = createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
    expect(metadata["oid"]).toBe(oid);
    return [key.slice(key.indexOf(`/${folder}/`) + folder.length + 2), `${metadata["mode"]} ${oid}`];
  });
  expect(new Map(shown)).toEqual(await listFiles(dir, revision));
}

test("a push, a commit through the API, and a deleted branch are followed", async () => {
  const files = {
    "index.html": "<p>",
    "bin/run": { mode: "100755", content: "x" },
    link: { mode: "120000", content: "bin" },
  };
  const tip = await commitFiles(dir, "first", files);
  await push("followed", "first:refs/heads/main", "first:refs/heads/side/1");
  const ready = await waitFor("followed", [["main", "ready"]]);
  expect(ready).toMatchObject({
    branches: null,
    worktrees: [{ tip, materialized: tip, files: 3, bytes: 7, error: null }],
  });
  await expectObjects("main", "first");
  const [page] = [...(await server.readObjects("/worktrees/main/index.html")).values()];
  expect(page!.contentType).toBe("text/html; charset=utf-8");

  const made = await askApi<{ commit: string }>(server, "/repos/me/followed/commits", {
    method: "POST",
    json: {
      branch: "main",
      message: "edit",
      author: { name: "A", email: "a@example.com" },
      operations: [{ op: "put", path: "bin/new", content: "new" }],
    },
  });
  expect(made.status).toBeLessThan(300);
  await git(dir, "fetch", "-q", `${server.url}/me/followed.git`, "main:made");
  expect(await waitFor("followed", [["main", "ready"]])).toMatchObject({ worktrees: [{ tip: made.body.commit }] });
  await expectObjects("main", "made");

  const renamed = await askApi(server, "/repos/me/followed/branches/main", {
    method: "PATCH",
    json: { newName: "trunk" },
  });
  expect(renamed.status).toBe(200);
  await waitFor("followed", [["trunk", "ready"]]);
  await expectObjects("trunk", "made");
  expect((await server.readObjects("/worktrees/main/")).size).toBe(0);

  expect((await ask("followed", { branches: ["side/1", "none"] })).body.branches).toEqual(["side/1", "none"]);
  await waitFor("followed", [
    ["none", "absent"],
    ["side/1", "ready"],
  ]);
  await expectObjects("side%2F1", "first");
  expect((await server.readObjects("/worktrees/trunk/")).size).toBe(0);
  await push("followed", ":refs/heads/side/1");
  await waitFor("followed", [
    ["none", "absent"],
    ["side/1", "absent"],
  ]);
  expect((await server.readObjects("/worktrees/")).size).toBe(0);
});

test("a clone is served while the worktree is written; a crash meanwhile heals itself", { tags: "sweep" }, async () => {
  const files = Object.fromEntries(
    Array.from({ length: 200 }, (_, i) => [`d${i % 30}/f${i}`, `file ${i}\n`.repeat(20)]),
  );
  await commitFiles(dir, "many", files);
  await push("many", "many:refs/heads/main");
  const clone = join(makeTempDir("clone"), "clone.git");
  await git(dir, "clone", "-q", "--bare", `${server.url}/me/many.git`, clone);
  expect(await git(clone, "rev-parse", "main")).toBe(await git(dir, "rev-parse", "many"));
  // The job begins half a second after the push, and takes more than as long again to write so many
  // files.
  await new Promise((resolve) => setTimeout(resolve, 700));
  await server.kill();
  await server.restart();
  await waitFor("many", [["main", "ready"]]);
  await expectObjects("main", "many");
  server.takeEvents();
  await commitFiles(dir, "many", { ...files, "d7/f7": "changed" });
  await push("many", "many:refs/heads/main");
  expect(await server.takeEvent("job")).toMatchObject({ kind: "materialize", files: 1, operations: { puts: 1 } });
  const [changed] = [...(await server.readObjects("/worktrees/main/d7/f7")).values()];
  expect(changed!.bytes.toString()).toBe("changed");
});

test("what cannot be chosen is refused, and changes nothing", async () => {
  await commitFiles(dir, "plain", { a: "a" });
  await push("refused", "plain:refs/heads/main");
  for (const json of [
    {},
    { branches: "main" },
    { branches: ["a..b"] },
    { branches: [""] },
    { branches: Array(101).fill("a") },
  ]) {
    expect((await ask("refused", json)).status).toBe(422);
  }
  expect((await ask("refused")).body.branches).toBeNull();
  expect((await ask("nothing")).status).toBe(404);
  expect((await ask("nothing", { branches: null })).status).toBe(404);
});

/** Pushes two files to a server, and lets it run the jobs that follow. */
async function pushTo({ url }: Server): Promise<void> {
  await commitFiles(dir, "switched", { a: "a", "b/c": "c" });
  await git(dir, "push", "-q", `${url}/me/switched.git`, "switched:refs/heads/main");
  expect((await askApi({ url }, "/repos/me/switched/maintenance", { method: "POST" })).status).toBe(200);
}

test(
  "where a deployment keeps no worktrees, none is written, none can be chosen, and those there were go",
  { tags: "sweep" },
  async () => {
    const persistDir = makeTempDir("switched");
    const before = await startServer({ persistDir });
    await pushTo(before);
    expect((await before.readObjects("/worktrees/")).size).toBe(2);
    await before.close();
    const none = await startServer({ persistDir, vars: { WORKTREES: "none" } });
    try {
      const refused = await askApi(none, "/repos/me/switched/worktrees", {
        method: "PUT",
        json: { branches: ["main"] },
      });
      expect(refused).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
      expect(JSON.stringify(refused.body)).toContain("WORKTREES is none");
      await commitFiles(dir, "other", { a: "another" });
      await git(dir, "push", "-q", `${none.url}/me/switched.git`, "other:refs/heads/main", "--force");
      await askApi(none, "/repos/me/switched/maintenance", { method: "POST" });
      expect((await none.readObjects("/worktrees/")).size).toBe(0);
      expect((await askApi<Shown>(none, "/repos/me/switched/worktrees")).body).toMatchObject({
        branches: null,
        bytes: 0,
        worktrees: [],
      });
    } finally {
      await none.close();
    }
  },
);

test("where a deployment keeps worktrees on demand, those that are chosen are written", { tags: "sweep" }, async () => {
  const onDemand = await startServer({ vars: { WORKTREES: "on-demand" } });
  try {
    await pushTo(onDemand);
    expect((await onDemand.readObjects("/worktrees/")).size).toBe(0);
    const path = "/repos/me/switched/worktrees";
    expect((await askApi<Shown>(onDemand, path)).body).toMatchObject({ branches: null, bytes: 0, worktrees: [] });
    expect((await askApi(onDemand, path, { method: "PUT", json: { branches: ["main"] } })).status).toBe(200);
    await askApi(onDemand, "/repos/me/switched/maintenance", { method: "POST" });
    expect((await onDemand.readObjects("/worktrees/")).size).toBe(2);
  } finally {
    await onDemand.close();
  }
});
