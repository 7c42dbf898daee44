import { execFile } from "node:child_process";
import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const TOKEN = "correct-horse-battery";
const run = promisify(execFile);
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: TOKEN } });
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url.replace("://", `://me:${TOKEN}@`)}/me/repo.git`, "main");
});

afterAll(() => server.close());

/** A folder in which the package is installed. */
let dir: string;

beforeAll(async () => {
  dir = makeTempDir("consumer");
  const packed = await run("npm", ["run", "pack:client", "--", "--pack-destination", dir], { cwd: PROJECT });
  expect(packed.stderr).toContain("client.d.ts");
  await mkdir(join(dir, "node_modules/holdfast"), { recursive: true });
  const [archive] = (await readdir(dir)).filter((name) => name.endsWith(".tgz"));
  await run("tar", ["xzf", archive!, "--strip-components=1", "-C", "node_modules/holdfast"], { cwd: dir });
});

test("the package holds the client for plain Node, with its types", async () => {
  await symlink(join(PROJECT, "node_modules/hono"), join(dir, "node_modules/hono"));
  const program = `import { newClient } from "holdfast/client";
    const client = newClient("${server.url}", { token: "${TOKEN}" });
    const response = await client.repos[":owner"][":repo"].maintenance.$get({ param: { owner: "me", repo: "repo" } });
    if (response.ok) console.log((await response.json()).commits);\n`;
  await writeFile(join(dir, "program.mjs"), program);
  await writeFile(join(dir, "program.mts"), program.replace(".commits", ".commits.toFixed()"));
  expect((await run(process.execPath, ["program.mjs"], { cwd: dir })).stdout).toBe("1\n");
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck"];
  await run(join(PROJECT, "node_modules/.bin/tsc"), [...options, "program.mts"], { cwd: dir });
});

test("the package holds the remote helper, which runs in the user's own Node", async () => {
  const bin = join(dir, "bin");
  await mkdir(bin);
  await symlink(
    join(dir, "node_modules/holdfast/src/worker/web/assets/git-remote-holdfast.cjs"),
    join(bin, "git-remote-holdfast"),
  );
  // Without the project's own Node, as it is for users.
  const others = process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const source = await makeRepository("helped");
  await git(source, "commit", "-q", "--allow-empty", "-m", "first");
  await git(source, "commit", "-q", "--allow-empty", "-m", "second");
  const remote = `holdfast::${server.url.replace("://", `://me:${TOKEN}@`)}/me/helped`;
  const args = ["-c", "holdfast.plainObjects=1", "push", remote, "main"];
  const { code, stderr } = await tryGit(source, args, { env: { PATH: [bin, ...others].join(delimiter) } });
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("holdfast: Created me/helped");
  expect(server.requests.some(({ path }) => path.includes("/uploads/"))).toBe(true);
});

test("the package holds the agent of Git LFS, which runs in the user's own Node", async () => {
  const others = process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const program = join(dir, "node_modules/holdfast/src/worker/web/assets/git-lfs-holdfast.cjs");
  const { stdout } = await run(program, ["--help"], { env: { ...process.env, PATH: others.join(delimiter) } });
  expect(stdout).toContain("git lfs-holdfast install");
});
