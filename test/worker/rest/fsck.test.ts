import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { checkRepository } from "../../../scripts/fsck/check-repository.ts";
import { PROJECT } from "../../harness/build.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { Random } from "../../harness/random.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeCursor } from "../../harness/made-cursor.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
  const dir = await makeHistory({ commits: 20, files: 10, tags: 2 });
  await git(dir, "push", "-q", `${server.url}/me/repo.git`, "--all");
  await git(dir, "push", "-q", `${server.url}/me/repo.git`, "--tags");
  // Large enough for an R2 object.
  const fat = await makeRepository("fat.git", "--bare");
  const data = Buffer.from(new Random(1).bytes(600_000)).toString("base64");
  const stream = `commit refs/heads/fat\ncommitter A <a@x> 1 +0000\ndata 1\nx\nM 100644 inline f\ndata ${data.length}\n${data}\n`;
  expect(await tryGit(fat, ["fast-import", "--quiet"], { stdin: stream })).toMatchObject({ code: 0 });
  await git(fat, "push", "-q", `${server.url}/me/repo.git`, "fat");
});

afterAll(() => server.close());

const ask = (query: string) => askApi(server, `/repos/me/repo/fsck${query}`, { method: "POST" });

async function runScript(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = join(PROJECT, "scripts/fsck.ts");
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [script, ...args])) };
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string };
  }
}

test("a healthy repository has no problem, and the script ends with 0", async () => {
  const url = new URL(`${server.url}/api/repos/me/repo/fsck?rules=default`);
  const reports = await Array.fromAsync(checkRepository({ url, attempts: 1 }));
  const sum = (name: string): number => reports.reduce((all, { checked }) => all + checked[name]!, 0);
  expect(reports.map(({ problems, problemCount }) => [problems, problemCount])).toEqual(reports.map(() => [[], 0]));
  expect([sum("refs"), sum("skippedNodes"), sum("chunks") > 0]).toEqual([4, 0, true]);
  expect(await runScript("--rules", "strict", `${server.url}/me/repo.git`)).toMatchObject({
    code: 0,
    stdout: "0 problems, 0 orphans\n",
  });
});

test("what is malformed is refused, and the script ends with 2", { tags: "sweep" }, async () => {
  for (const query of ["?cursor=x", "?rules=none", "?repair=1"])
    expect(await ask(query)).toMatchObject({ status: 422 });
  const cursor = makeCursor("/fsck", '{"stage":"chunks","after":"x"}');
  expect(await ask(`?cursor=${cursor}`)).toMatchObject({ status: 422 });
  expect((await runScript(`${server.url}/me/other`)).code).toBe(2);
  expect((await runScript(`${server.url}/`)).code).toBe(2);
});

test("damage is told, and the script ends with 1", { tags: "sweep" }, async () => {
  expect(await server.loseObjects("/chunks/")).toBe(1);
  const { body } = await ask("");
  expect(body).toMatchObject({ problems: [{ kind: "chunk-missing", key: expect.stringContaining("/chunks/") }] });
  const { code, stdout } = await runScript("--quiet", `${server.url}/me/repo`);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^chunk-missing chunk \d+ .*: its R2 object is missing\n1 problems, 0 orphans\n$/);
});
