/** What README and the documents tell to type, typed: each page's command blocks in order, in one
 * shell, as they are written. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { git, gitEnv, makeRepository } from "../harness/git.ts";
import { buildLfsTools } from "../harness/lfs-tools.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const ADMIN = "correct-horse-battery";

const PAGES = [
  "README.md",
  "SECURITY.md",
  ...readdirSync(join(PROJECT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Blocks that cannot be run here, by how they begin, why, and what is run in their place. */
const INSTEAD: readonly { readonly block: string; readonly reason: string; readonly run: string }[] = [
  {
    block: "npm ci && npm start",
    reason: "npm ci would take the packages away from the tests that run; npm start has tests of its own",
    run: "npm start -- --help",
  },
  { block: "npm ci && npm test", reason: "this is one of the tests", run: "npm test -- --help" },
  { block: "npm run bench", reason: "it takes minutes", run: "npm run bench -- --help" },
  {
    block: "npx wrangler r2 bucket create holdfast",
    reason: "it needs an account",
    run: "npx wrangler r2 bucket create --help",
  },
  { block: "npm run deploy", reason: "it needs an account", run: "npm run deploy:check" },
  { block: "npm ci && npm run deploy", reason: "it needs an account", run: "npm run deploy -- --help" },
  {
    block: "curl -N -H",
    reason: "the stream goes on for minutes; test/worker/rest/events.test.ts reads it",
    run: "true",
  },
  {
    block: "[[services]]",
    reason: "it is configuration; test/e2e/policy.test.ts has such a service",
    run: "true",
  },
  {
    block: "npx wrangler queues create holdfast-events",
    reason: "it needs an account",
    run: "npx wrangler queues create --help",
  },
  { block: "npm run setup -- --deployed", reason: "it needs an account", run: "npm run setup -- --help" },
];

/** What a page takes for granted before a block, by the block's beginning. */
const BEFORE: readonly { readonly block: string; readonly run: string }[] = [
  { block: "url=", run: `git push -q http://localhost:8787/me/my-repo.git v1` },
  {
    block: 'curl "http://localhost:8787/api/repos/me/my-repo/events',
    run: "git push -q http://localhost:8787/me/my-repo.git main",
  },
  { block: "git clone --mirror large.bundle", run: "git bundle create -q large.bundle --all HEAD" },
];

/** Numbers that are for large histories and patient people, and what the sample has. */
const SMALLER: Readonly<Record<string, string>> = { "main~20000": "main~2", "wait=25": "wait=1" };

let open: Server;
let closed: Server;

beforeAll(async () => {
  [open, closed] = await Promise.all([startServer(), startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } })]);
});

afterAll(() => Promise.all([open.close(), closed.close()]));

/** Indented blocks, in order. One that begins with a brace is JSON. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(PROJECT, page), "utf8");
  return text
    .split(/\n(?! {4}|\n)/)
    .flatMap((part) => [...part.matchAll(/\n\n((?: {4}.*(?:\n|$)|\n(?= {4}))+)/g)])
    .map(([, block]) => block!.replaceAll(/^ {4}/gm, "").trimEnd());
}

/** The one rule by which a command is changed: a server's address stands for one that runs. Where a
 * token is shown, for one that asks for it. */
function address(command: string): string {
  const local = command.includes("ADMIN_TOKEN") ? closed : open;
  const text = command.replaceAll("http://localhost:8787", local.url).replaceAll("https://git.example.com", closed.url);
  return Object.entries(SMALLER).reduce((sum, [large, small]) => sum.replaceAll(large, small), text);
}

/** A clone of a sample with five commits and a tag, where the project's programs are at hand;
 * pushed to the server of tokens. */
async function makePlace(): Promise<string> {
  const dir = await makeRepository("sample");
  for (let count = 1; count <= 5; count++) {
    writeFileSync(join(dir, "README.md"), `${count}\n`);
    await git(dir, "add", "README.md");
    await git(dir, "commit", "-q", "-m", `${count}`);
    if (count === 2) await git(dir, "tag", "v1");
  }
  for (const name of ["node_modules", "scripts", "package.json", "src", "wrangler.toml"])
    symlinkSync(join(PROJECT, name), join(dir, name));
  await git(dir, "push", "-q", `${closed.url.replace("://", `://me:${ADMIN}@`)}/me/my-repo.git`, "main");
  return dir;
}

/** Runs a script as a user's shell would, which ends where a command fails: curl's answers of 400
 * and more included. */
async function runShell(dir: string, script: string): Promise<{ code: number | null; text: string }> {
  const home = join(makeTempDir("home"), "home");
  mkdirSync(home);
  writeFileSync(join(home, ".curlrc"), "fail\nsilent\nshow-error\n");
  const password = Buffer.from(`me:${ADMIN}`).toString("base64");
  const credentials = `[http "${closed.url}"]\n  extraHeader = Authorization: Basic ${password}\n`;
  writeFileSync(join(home, ".gitconfig"), credentials);
  const { GIT_CONFIG_GLOBAL: _, ...isolated } = gitEnv();
  const env = {
    ...isolated,
    PATH: await buildLfsTools(),
    HOME: home,
    ADMIN_TOKEN: ADMIN,
    HOLDFAST_TOKEN: ADMIN,
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
  };
  const child = spawn("bash", ["--norc", "-euo", "pipefail", "-c", script], {
    cwd: dir,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const output of [child.stdout, child.stderr]) output.on("data", (piece: Buffer) => (text += piece.toString()));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, text };
}

const pages = PAGES.filter((page) => blocksOf(page).length > 0);

test("README and the pages for users have blocks, and no page has any that are not found", () => {
  const first = ["README.md", "docs/using.md", "docs/testing.md"];
  expect(first.flatMap(blocksOf).length).toBeGreaterThan(12);
  expect(pages).toEqual(expect.arrayContaining([...first, "docs/operations.md"]));
  for (const page of PAGES) expect(readFileSync(join(PROJECT, page), "utf8"), page).not.toMatch(/^ *```/m);
  const all = pages.flatMap(blocksOf);
  // What is listed here stands there.
  for (const { block } of [...INSTEAD, ...BEFORE])
    expect(
      all.some((one) => one.startsWith(block)),
      block,
    ).toBe(true);
});

test.each(pages)("the commands of %s do as they are written", async (page) => {
  const steps = blocksOf(page).flatMap((block) => {
    if (block.startsWith("{")) {
      expect(JSON.parse(block)).toBeTypeOf("object");
      return [];
    }
    const instead = INSTEAD.find((one) => block.startsWith(one.block));
    if (instead !== undefined) return [`(cd ${PROJECT} && ${instead.run})`];
    const before = BEFORE.find((one) => block.startsWith(one.block));
    return [...(before === undefined ? [] : [address(before.run)]), address(block)];
  });
  expect(steps.length).toBeGreaterThan(0);
  const script = steps.map((step, index) => `echo "== step ${index + 1} of ${steps.length}"\n${step}`).join("\n");
  const { code, text } = await runShell(await makePlace(), script);
  expect([code, code === 0 ? "" : text.slice(-2_000)]).toEqual([0, ""]);
  expect(text).toContain(`== step ${steps.length} of`);
});

/** Programs of the project that are there for its users; `{a,b}` stands for each. */
const scripts = new Set(
  ["docs/testing.md", "docs/operations.md"]
    .flatMap((page) => [...readFileSync(join(PROJECT, page), "utf8").matchAll(/\bscripts\/[\w/.{},-]*[\w}](?:\.ts)?/g)])
    .map(([name]) => name)
    .flatMap((name) => {
      const [, head, names, tail] = /^(.*)\{(.*)\}(.*)$/.exec(name) ?? [];
      return names === undefined ? [name] : names.split(",").map((one) => `${head}${one}${tail}`);
    })
    .filter((name) => /\.(?:ts|sh)$/.test(name)),
);

/** What the commands of checks can do. */
const checks = [...readFileSync(join(PROJECT, "docs/testing.md"), "utf8").matchAll(/npm run (\w+) -- \{?([\w,-]+)/g)]
  .filter(([, command]) => command === "verify" || command === "stress")
  .flatMap(([, command, names]) => names!.split(",").map((name) => `npm run --silent ${command} -- ${name}`));

test("the page of tests names checks", () => expect(checks.length).toBeGreaterThan(15));

test.each([
  ...[...scripts].map((script) => (script.endsWith(".ts") ? `node_modules/.bin/node ${script}` : script)),
  ...checks,
])("%s tells of itself", async (command) => {
  const { code, text } = await runShell(PROJECT, `${command} --help`);
  expect([code, text]).toEqual([0, expect.stringMatching(/usage/i)]);
  // As it says that it is run, it runs.
  expect(text).not.toContain("Usage: node scripts/");
});
