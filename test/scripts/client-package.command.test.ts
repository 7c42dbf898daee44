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

/** Where the installed programs are, in that folder. */
const PROGRAMS = "node_modules/git-remote-holdfast/dist";

/** A folder in which the packages are installed. */
let dir: string;

beforeAll(async () => {
  dir = makeTempDir("consumer");
  for (const [script, name] of [
    ["pack:client", "holdfast"],
    ["pack:helper", "git-remote-holdfast"],
  ] as const) {
    await run("npm", ["run", script, "--", "--pack-destination", dir], { cwd: PROJECT });
    await mkdir(join(dir, "node_modules", name), { recursive: true });
    const [archive] = (await readdir(dir)).filter((file) => new RegExp(`^${name}-\\d.*\\.tgz$`).test(file));
    await run("tar", ["xzf", archive!, "--strip-components=1", "-C", `node_modules/${name}`], { cwd: dir });
  }
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

test("the helper's package holds the remote helper, which runs in the user's own Node", async () => {
  const bin = join(dir, "bin");
  await mkdir(bin);
  await symlink(join(dir, PROGRAMS, "git-remote-holdfast.cjs"), join(bin, "git-remote-holdfast"));
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

test("the helper's package holds the agent of Git LFS, which runs in the user's own Node", async () => {
  const others = process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const program = join(dir, PROGRAMS, "git-lfs-holdfast.cjs");
  const { stdout } = await run(program, ["--help"], { env: { ...process.env, PATH: others.join(delimiter) } });
  expect(stdout).toContain("git lfs-holdfast install");
});
