import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import type { MaintenanceStatus } from "../../src/contract/upkeep.ts";
import { commitFiles } from "../object/worktree/worktree-harness.ts";

/** A quarter of the usual number of pushes are merged: `repack.test.ts` merges as many as usual. */
const REPACK_CHUNKS = 16;

let server: Server;
beforeAll(async () => {
  server = await startServer({
    // Worktree jobs would run in between.
    vars: { WORKTREES: "none", LIMITS: JSON.stringify({ pruneGraceMs: 0 }) },
    constants: { REPACK_CHUNKS },
  });
});
afterAll(() => server.close());

/** Commits to a repository so many times, each time with more lines in a file, and pushes each
 * commit. */
async function pushCommits(dir: string, url: string, count: number): Promise<void> {
  let { stdout: log } = await tryGit(dir, ["cat-file", "blob", "main:log"]);
  const stream = Array.from({ length: count }, (_, i) => {
    const from = i === 0 && log !== "" ? "from refs/heads/main^0\n" : "";
    log += `line ${i} of ${count}\n`.repeat(5);
    const head = `commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 2\nx\n${from}`;
    return `${head}M 100644 inline log\ndata ${log.length}\n${log}\n`;
  });
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: stream.join("") });
  expect(code, stderr).toBe(0);
  for (let i = count - 1; i >= 0; i--) await git(dir, "push", "-q", url, `main~${i}:refs/heads/main`);
}

/** Clones a repository and runs `git fsck` on it. */
async function cloneSound(url: string, tip: string): Promise<void> {
  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", url, clone);
  expect(await git(clone, "rev-parse", "HEAD")).toBe(tip);
  expect(await git(clone, "fsck", "--strict", "--full")).toBe("");
}

test(
  "small pushes are merged behind the client's back; clones and later pushes are as before",
  { tags: "sweep" },
  async () => {
    const url = `${server.url}/me/many.git`;
    const dir = await makeRepository("many", "--bare");
    await pushCommits(dir, url, REPACK_CHUNKS);
    expect(await server.takeEvent("job")).toMatchObject({
      kind: "repack",
      chunks: REPACK_CHUNKS,
      objects: 3 * REPACK_CHUNKS,
      again: false,
      operations: { puts: 0, gets: 0 },
    });
    await cloneSound(url, await git(dir, "rev-parse", "main"));
    await pushCommits(dir, url, 3);
    await cloneSound(url, await git(dir, "rev-parse", "main"));
  },
);

test("maintenance on demand merges, prunes and tells; git finds all sound", async () => {
  const url = `${server.url}/me/tended.git`;
  const api = `${server.url}/api/repos/me/tended/maintenance`;
  const unknown = await fetch(api);
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: "not-found" } }]);
  const dir = await makeRepository("tended", "--bare");
  await pushCommits(dir, url, 5);
  const before = (await (await fetch(api)).json()) as MaintenanceStatus;
  expect(before).toMatchObject({ objects: 15, commits: 5, chunks: { hot: 5, unmerged: 5 } });
  await git(dir, "reset", "-q", "--soft", "main~2");
  await git(dir, "push", "-q", "--force", url, "main");
  const waiting = (await (await fetch(api)).json()) as MaintenanceStatus;
  expect(waiting.jobs).toMatchObject([{ kind: "prune", attempts: 0, lastError: null }]);

  const response = await fetch(api, { method: "POST" });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    objects: 9,
    commits: 3,
    chunks: { hot: 1, unmerged: 0, unwhole: 0 },
    // Older pushes than the newest will be forgotten in 90 days.
    jobs: [{ kind: "expire", attempts: 0 }],
    // Unreachable objects were removed first.
    lastRuns: { prune: {}, repack: { chunks: 3 }, compact: {} },
  });
  await cloneSound(url, await git(dir, "rev-parse", "main"));
  await pushCommits(dir, url, 2);
  await cloneSound(url, await git(dir, "rev-parse", "main"));
});

test(
  "works that follow each other meet no jobs; these begin when nobody has asked for anything for a while",
  { tags: "sweep" },
  async () => {
    const quietMs = 1_500;
    const waiting = await startServer({ vars: { LIMITS: JSON.stringify({ quietMs }) } });
    try {
      const dir = await makeRepository("followed.git", "--bare");
      const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`d${i % 9}/f${i}`, `file ${i}\n`]));
      await commitFiles(dir, "main", files);
      const [url, beside] = [`${waiting.url}/me/followed.git`, `${waiting.url}/me/beside.git`];
      await git(dir, "push", "-q", url, "main");
      await git(dir, "push", "-q", beside, "main");
      const pause = () => new Promise((resolve) => setTimeout(resolve, quietMs / 15));
      for (const endMs = Date.now() + 2 * quietMs; Date.now() < endMs; await pause()) await git(dir, "ls-remote", url);
      // The first request of a push to a new name: there is no repository to ask yet.
      const beginning = `${waiting.url}/me/new.git/info/refs?service=git-receive-pack`;
      for (const endMs = Date.now() + 2 * quietMs; Date.now() < endMs; await pause())
        await (await fetch(beginning)).arrayBuffer();
      const jobs = (): string[] => waiting.takeEvents().flatMap((event) => (event.event === "job" ? [event.kind] : []));
      expect(jobs()).toEqual([]);
      for (const repository of ["followed", "beside"]) {
        // Reading the status delays nothing.
        for (let tries = 0; ; tries++) {
          const path = `${waiting.url}/api/repos/me/${repository}/worktrees`;
          const { worktrees } = (await (await fetch(path)).json()) as { worktrees: { state: string }[] };
          if (worktrees[0]!.state === "ready") break;
          if (tries === 300) throw new Error(`${repository} is not written`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
      expect(jobs()).toEqual(["materialize", "materialize"]);
    } finally {
      await waiting.close();
    }
  },
);

test("maintenance asks for the same token as everything", async () => {
  const { url } = await shareServer("t7900", WITH_TOKENS);
  const api = `${url}/api/repos/t7900/tended/maintenance`;
  expect((await fetch(api, { method: "POST" })).status).toBe(401);
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  expect((await fetch(api, { method: "POST", headers })).status).toBe(404);
});
