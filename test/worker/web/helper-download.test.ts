/** The programs that run beside git as users get them: from the server that they push to, each as
 * one file. */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProgram, fileOf, type ProgramName, PROGRAMS } from "../../../scripts/build-helper.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const TOKEN = "correct-horse-battery";

let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: TOKEN } });
});
afterAll(() => server.close());

const NAMES = Object.keys(PROGRAMS) as ProgramName[];

test.each(NAMES)("whoever has no token may download %s", async (name) => {
  const answer = await fetch(`${server.url}/-/${name}`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("Content-Disposition")).toBe(`attachment; filename="${name}"`);
  expect(await answer.text()).toBe((await bundleProgram(name)).text);
});

test("the helper pushes under its own name", { tags: "sweep" }, async () => {
  const bin = join(makeTempDir("home"), "bin");
  mkdirSync(bin);
  const path = join(bin, "git-remote-holdfast");
  copyFileSync(fileOf("git-remote-holdfast"), path);
  chmodSync(path, 0o755);
  const dir = await makeRepository("pusher");
  for (const message of ["first", "second"]) await git(dir, "commit", "-q", "--allow-empty", "-m", message);
  const remote = `holdfast::${server.url.replace("://", `://me:${TOKEN}@`)}/me/helped`;
  const args = ["-c", "holdfast.plainObjects=1", "push", remote, "main"];
  const { code, stderr } = await tryGit(dir, args, { env: { PATH: [bin, process.env["PATH"]].join(delimiter) } });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("holdfast: Created me/helped");
});

test("run by hand, they say what runs them", { tags: "sweep" }, () => {
  const run = (name: ProgramName, ...args: string[]): string =>
    execFileSync(process.execPath, [fileOf(name), ...args], { encoding: "utf8", stdio: "pipe" });
  expect(() => run("git-remote-holdfast")).toThrow("git runs this: git push holdfast::");
  expect(run("git-lfs-holdfast", "--help")).toContain("git lfs-holdfast install");
});
