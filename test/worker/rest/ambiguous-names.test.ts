// Names that several refs have: the API uses the branch, and reports that there are others.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

const ADA = { name: "Ada Example", email: "ada@example.com" };
const TOLD = "refs/heads/main, refs/tags/main";

let server: Pick<Server, "url">;
let dir: string;
/** May write tags, and nothing else. */
let tagger: string;
/** The commits of the branch and of the tag with the same name. */
let branch: string;
let tag: string;

const urlOf = (token: string): string => `${server.url.replace("://", `://git:${token}@`)}/ambiguous/repo`;

function ask<Body = Record<string, unknown>>(
  path: string,
  init: { method?: string; json?: unknown } = {},
): Promise<Answer<Body>> {
  return askApi<Body>(server, `/repos/ambiguous/repo${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
  });
}

const told = ({ headers }: Answer): string | null => headers.get("Holdfast-Ambiguous");

/** Writes files, and commits them. */
async function commit(files: Record<string, string>, message: string): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", message);
  return git(dir, "rev-parse", "HEAD");
}

beforeAll(async () => {
  server = await shareServer("ambiguous", WITH_TOKENS);
  dir = await makeRepository("source");
  await commit({ a: "first\n" }, "first");
  branch = await commit({ a: "the branch's\n", "scripts/run": "the branch's\n" }, "second");
  await git(dir, "push", "-q", urlOf(ADMIN_TOKEN), "main", "main:side");
  const json = { owner: "ambiguous", name: "tags", right: "write", refs: [{ pattern: "refs/tags/**" }] };
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  tagger = (await askApi<{ token: string }>(server, "/tokens", { method: "POST", json, headers })).body.token;
  await git(dir, "checkout", "-q", "-b", "evil", "main~1");
  await commit({ more: "" }, "more");
  tag = await commit({ a: "the tag's\n", "scripts/run": "the tag's\n", run: "the tag's\n" }, "evil");
  // What the tags' token can do to the name `main`, and to ids.
  const names = ["main", "main/scripts", "heads/main", "refs/heads/main", "HEAD", `${branch}/scripts`, "HEAD/scripts"];
  const taken = names.filter((name) => name !== "main" && name !== "HEAD");
  for (const name of taken) await git(dir, "push", "-q", urlOf(tagger), `evil:refs/tags/${name}`);
  for (const name of ["main/scripts", "HEAD/scripts"])
    await git(dir, "push", "-q", urlOf(tagger), `:refs/tags/${name}`);
  for (const name of ["main", "HEAD"]) await git(dir, "push", "-q", urlOf(tagger), `evil:refs/tags/${name}`);
  expect((await tryGit(dir, ["push", "-q", urlOf(tagger), "evil:refs/heads/main"])).code).not.toBe(0);
});

/** Requests that show which commit a name means: by its id, or by its content. */
const ASKS: readonly [name: string, ask: () => Promise<Answer>, ofBranch: unknown][] = [
  ["raw", () => ask("/raw/main/a"), "the branch's\n"],
  ["raw, deeper", () => ask("/raw/main/scripts/run"), "the branch's\n"],
  ["blame", () => ask("/blame/main/scripts/run"), { commit: "BRANCH" }],
  ["files", () => ask("/files?ref=main"), { commit: "BRANCH" }],
  ["all files", () => ask("/files/all?ref=main"), { commit: "BRANCH" }],
  ["grep", () => ask("/grep?ref=main&pattern=s"), { commit: "BRANCH" }],
  ["log", () => ask("/log?ref=main"), { commits: [{ oid: "BRANCH" }, {}] }],
  ["commit", () => ask("/commits/main"), { oid: "BRANCH" }],
  ["a step from it", () => ask("/commits/main%5E0"), { oid: "BRANCH" }],
  ["compare", () => ask("/compare/main~1...main"), { head: "BRANCH" }],
  ["merge base", () => ask("/merge-base?base=main&head=side"), { base: "BRANCH" }],
  ["stats", () => ask("/stats?ref=main"), { commit: "BRANCH" }],
  ["activity", () => ask("/activity?ref=main&since=2023-11-01&until=2023-12-01"), { total: 2 }],
  ["contributors", () => ask("/contributors?ref=main"), { commit: "BRANCH" }],
  ["languages", () => ask("/languages?ref=main"), { files: 2 }],
  ["archive", () => ask("/archive/main.tar"), expect.stringContaining("the branch's")],
  [
    "a new branch",
    () => ask("/branches", { method: "POST", json: { name: "new", startPoint: "main" } }),
    { commit: "BRANCH" },
  ],
  [
    "a moved branch",
    () => ask("/branches/new", { method: "PATCH", json: { target: "main", force: true } }),
    { commit: "BRANCH" },
  ],
  ["a new tag", () => ask("/tags", { method: "POST", json: { name: "new", target: "main" } }), { oid: "BRANCH" }],
  [
    "any ref",
    () => ask("/refs/notes/new", { method: "PUT", json: { target: "main", force: true } }),
    { oid: "BRANCH" },
  ],
  [
    "merge",
    () => ask("/merge", { method: "POST", json: { base: "side", head: "main", author: ADA } }),
    { kind: "up-to-date" },
  ],
  [
    "cherry-pick",
    () =>
      ask("/cherry-pick", { method: "POST", json: { branch: "side", commit: "main", committer: ADA, dryRun: true } }),
    { kind: "unchanged" },
  ],
  [
    "revert",
    () => ask("/revert", { method: "POST", json: { branch: "side", commit: "main", author: ADA, dryRun: true } }),
    { kind: "reverted" },
  ],
  [
    "a commit on a new branch",
    () =>
      ask("/commits", {
        method: "POST",
        json: {
          branch: "newer",
          startPoint: "main",
          message: "m",
          author: ADA,
          operations: [{ op: "delete", path: "a" }],
        },
      }),
    { parents: ["BRANCH"] },
  ],
];

test.each(ASKS)("a branch goes before a tag of its name, and the tag is told: %s", async (_, send, expected) => {
  const answer = await send();
  expect([answer.status < 300, answer.body]).toEqual([true, answer.body]);
  const filled = JSON.parse(JSON.stringify(expected).replaceAll("BRANCH", branch)) as object;
  if (typeof expected === "string") expect(answer.body).toBe(expected);
  else if (answer.headers.get("Content-Type")!.startsWith("application/json"))
    expect(answer.body).toMatchObject(filled);
  else expect(answer.body).toEqual(expected);
  expect(told(answer)).toBe(TOLD);
});

test("full names stand for themselves, and qualified ones for what they say", async () => {
  for (const [name, content, others] of [
    ["refs/heads/main", "the branch's\n", null],
    ["refs/tags/main", "the tag's\n", null],
    ["refs/tags/heads/main", "the tag's\n", null],
    ["refs/tags/refs/heads/main", "the tag's\n", null],
    ["heads/main", "the branch's\n", "refs/heads/main, refs/tags/heads/main"],
    ["tags/main", "the tag's\n", null],
    ["HEAD", "the branch's\n", null],
    ["side", "the branch's\n", null],
  ] as const) {
    for (const written of [name, encodeURIComponent(name)]) {
      const answer = await ask(`/raw/${written}/a`);
      expect([written, answer.body, told(answer)]).toEqual([written, content, others]);
    }
  }
});

test("no tag takes over the paths of a branch, of HEAD, or of an id", async () => {
  await git(dir, "push", "-q", urlOf(tagger), ":refs/tags/main", ":refs/tags/HEAD");
  await git(dir, "push", "-q", urlOf(tagger), "evil:refs/tags/main/scripts", "evil:refs/tags/HEAD/scripts");
  for (const ref of ["main", "refs/heads/main", "HEAD", branch]) {
    for (const resource of ["raw", "blame"]) {
      const answer = await ask(`/${resource}/${ref}/scripts/run`);
      expect([ref, answer.status]).toEqual([ref, 200]);
      if (resource === "raw") expect([ref, answer.body]).toEqual([ref, "the branch's\n"]);
      expect(told(answer)).toBe(ref === "main" ? "refs/heads/main, refs/tags/main/scripts" : null);
    }
  }
  // A path that the branch lacks is not looked up in the other refs: the error names the full name
  // to use.
  const missing = await ask("/raw/main/scripts/a");
  expect([missing.status, missing.body, told(missing)]).toEqual([
    404,
    {
      error: {
        code: "not-found",
        message: expect.stringMatching(
          /scripts\/a is not in refs\/heads\/main; to read refs\/tags\/main\/scripts, write/,
        ),
      },
    },
    "refs/heads/main, refs/tags/main/scripts",
  ]);
  expect((await ask("/raw/refs/tags/main/scripts/a")).body).toBe("the tag's\n");
  expect((await ask("/raw/main%2Fscripts/a")).body).toBe("the tag's\n");
});

test("a tag that looks like a commit's id is told", async () => {
  const short = branch.slice(0, 7);
  await git(dir, "push", "-q", urlOf(ADMIN_TOKEN), `evil:refs/tags/${short}`);
  const answer = await ask(`/commits/${short}`);
  expect([(answer.body as { oid: string }).oid, told(answer)]).toEqual([tag, `refs/tags/${short}, ${branch}`]);
});

test("names that no header can hold are encoded", async () => {
  const name = 'ä,";%';
  await git(dir, "push", "-q", urlOf(ADMIN_TOKEN), `main:refs/heads/${name}`, `main:refs/tags/${name}`);
  const shown = "%C3%A4%2C%22%3B%25";
  const answer = await ask(`/compare/${encodeURIComponent(name)}...${encodeURIComponent(name)}`);
  expect(told(answer)).toBe(`refs/heads/${shown}, refs/tags/${shown}`);
});

test("git itself goes on taking the tag", async () => {
  await git(dir, "push", "-q", urlOf(tagger), ":refs/tags/main/scripts");
  await git(dir, "push", "-q", urlOf(tagger), "evil:refs/tags/main");
  await git(dir, "fetch", "-q", urlOf(ADMIN_TOKEN), "main");
  expect(await git(dir, "rev-parse", "FETCH_HEAD")).toBe(tag);
});
