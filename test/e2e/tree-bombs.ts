/** Trees that refer to one another so often that 20 objects have 10^10 paths, and expensive
 * patterns. Every request that walks paths ends with an error that names the limit, and other
 * requests run meanwhile. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { makeCommit, type MadeObject, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { readRefs, sendPush } from "../harness/raw-push.ts";
import { type Server, startServer } from "../harness/server.ts";
import { testSome } from "../harness/sweep.ts";
import { encodeRequest, post } from "../harness/transcript.ts";

const LEVELS = 10;
const NAMES = "abcdefghij".split("");
const LEAF_MODES: Readonly<Record<string, string>> = { blob: "100644", tree: "40000", commit: "160000" };

/** Trees in ten levels, each with ten names for the next, and 10^10 files at the end, or empty
 * trees, or submodules.
 * @param leaf a file's content, or another object */
function makeBomb(leaf: string | MadeObject): { readonly root: MadeObject; readonly objects: MadeObject[] } {
  const objects = [typeof leaf === "string" ? makeObject("blob", leaf) : leaf];
  for (let level = 0; level < LEVELS; level++) {
    const mode = level === 0 ? LEAF_MODES[objects[0]!.type]! : "40000";
    objects.push(makeTree(...NAMES.map((name) => [mode, name, objects.at(-1)!] as const)));
  }
  return { root: objects.at(-1)!, objects };
}

const first = makeBomb("first\n");
const second = makeBomb("second\n");
const base = makeCommit(first.root);
const tip = makeCommit(second.root, [base.oid]);
const other = makeBomb("third\n");
const fork = makeCommit(other.root, [base.oid]);
const hollow = makeBomb(makeTree());
const hollowTip = makeCommit(hollow.root);
const hollowForkRoot = makeTree(["40000", "a", hollow.root]);
const hollowFork = makeCommit(hollowForkRoot, [hollowTip.oid]);
const linked = makeBomb(makeCommit(makeTree(), [], "elsewhere"));
const linkedTip = makeCommit(linked.root);
/** Sparse-checkout files: one that matches nothing, many patterns for every name, a long row of
 * stars. */
const patterns = ["nothing\n", "*a*a*a*b\n".repeat(4_000), `${"**/".repeat(21_000)}\n`].map((text) =>
  makeObject("blob", text),
);
const lists = makeTree(...patterns.map((blob, i) => ["100644", `list-${i}`, blob] as const));
const listed = makeCommit(lists);

let server: Server;
let url: string;
/** For one request. */
let boundMs: number;

/** Declares the tests.
 * @param constants see `ServerOptions`
 * @param bound more CPU than any of the requests takes (ms). Without the limits none
 * of them ended */
export function testBombs(constants: Readonly<Record<string, number>>, bound: number): void {
  beforeAll(async () => {
    boundMs = bound;
    server = await startServer({ constants });
    url = `${server.url}/me/bomb.git`;
    await pushBombs();
  });
  afterAll(() => server.close());
  testFetches();
  testReads();
  testArchives();
}

async function pushBombs(): Promise<void> {
  const objects = [first, second, other, hollow, linked].flatMap((bomb) => bomb.objects);
  const branches = { main: tip, fork, lists: listed, hollow: hollowTip, "hollow-fork": hollowFork, linked: linkedTip };
  const commands = Object.entries(branches).map(([name, commit]) => ({
    name: `refs/heads/${name}`,
    new: commit.oid,
  }));
  const pack = packOf(
    ...objects,
    makeTree(),
    ...patterns,
    lists,
    base,
    tip,
    fork,
    listed,
    hollowTip,
    hollowForkRoot,
    hollowFork,
    linkedTip,
  );
  expect(await sendPush(url, { commands, pack })).toMatchObject({ unpack: "ok" });
}

/** Runs an action while other requests ask for the refs, which must be answered meanwhile. The
 * bounds are of CPU, since a busy machine takes longer for everything. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const cpuMs = (): number => server.readUsage().cpuSeconds * 1000;
  const startMs = cpuMs();
  let ended = false;
  let longestMs = 0;
  const others = (async () => {
    while (!ended) {
      const askedMs = cpuMs();
      await readRefs(url);
      longestMs = Math.max(longestMs, cpuMs() - askedMs);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  const result = await work.finally(() => {
    ended = true;
  });
  await others;
  expect(cpuMs() - startMs).toBeLessThan(boundMs);
  expect(longestMs).toBeLessThan(boundMs / 2);
  return result;
}

function testFetches(): void {
  testSome(
    1,
    patterns.map(({ oid }, i) => [i, oid] as const),
    "a fetch with sparse patterns (list %i)",
    async ([, oid]) => {
      const lines = ["command=fetch", "delim", `want ${tip.oid}`, `filter sparse:oid=${oid}`, "done", "flush"];
      const { status, body } = await inTime(post({ url }, encodeRequest(...lines), 2));
      expect(status).toBe(200);
      expect(body.toString()).toMatch(
        /^....ERR (matching paths|the directories looked into) .*exceeds the limit of \d+/,
      );
    },
  );
}

function testReads(): void {
  const reads: readonly (readonly [string, path: string, status: number])[] = [
    ["two bombs", "/compare/fork...main", 200],
    ["a list of files", "/files/all?ref=main", 200],
    ["the last commits of a directory", "/files?ref=main&lastCommit=true", 200],
    ["languages", "/languages", 200],
    ["empty trees, listed", "/files/all?ref=hollow", 200],
    ["empty trees, searched", "/grep?ref=hollow&pattern=x", 413],
    ["two bombs, as a patch", "/compare/fork...main?format=diff", 413],
    ["a commit", "/commits/main", 200],
    ["a file whose former name is looked for", `/log?ref=main&follow=true&path=${"a/".repeat(9)}b`, 200],
    ["a search in files that no glob names", "/grep?ref=main&pattern=x&path=**/nothing", 413],
    ["a search in files of a hostile glob", `/grep?ref=main&pattern=x&path=${"**/*a*b/".repeat(200)}c`, 413],
    ["counts", "/stats", 200],
    ["a worktree", "/worktrees", 200],
    ["empty trees, listed from below", "/files/all?ref=hollow&path=a/b/c", 200],
    ["empty trees, searched in a directory", "/grep?ref=hollow&pattern=x&path=a/a", 413],
    ["empty trees, counted", "/stats?ref=hollow", 200],
    ["empty trees, by language", "/languages?ref=hollow", 200],
    ["empty trees, compared", "/compare/hollow...hollow-fork", 200],
    ["empty trees, with what touched them", "/files?ref=hollow&lastCommit=true&path=a/a/a", 200],
    ["submodules, listed", "/files/all?ref=linked", 200],
    ["submodules, searched", "/grep?ref=linked&pattern=x", 413],
  ];

  testSome(6, reads, "%s", async ([, path, status]) => {
    const answer = await inTime(askApi(server, `/repos/me/bomb${path}`));
    expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(status);
  });
}

function testArchives(): void {
  test("pages of empty trees get further each time", { tags: "sweep" }, async () => {
    const cursors: string[] = [];
    let cursor = "";
    for (let page = 0; page < 3; page++) {
      const path = `/repos/me/bomb/files/all?ref=hollow${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const answer = await inTime(askApi<{ files: unknown[]; nextCursor: string }>(server, path));
      expect(answer).toMatchObject({ status: 200, body: { files: [] } });
      cursor = answer.body.nextCursor;
      // It begins with what binds it to the request.
      const place = Buffer.from(cursor.slice(16), "base64url").toString();
      cursors.push((JSON.parse(place) as { after: string }).after);
    }
    expect(cursors).toEqual([...new Set(cursors)].toSorted());
  });

  test(
    "an archive of empty trees is refused in words, and one of submodules begins and ends when nobody reads it",
    { tags: "sweep", timeout: 180_000 },
    async () => {
      for (const name of ["hollow.tar", "hollow.zip", "hollow.tar.gz"]) {
        const answer = await inTime(askApi(server, `/repos/me/bomb/archive/${name}`));
        expect(answer).toMatchObject({ status: 413, body: { error: { code: "too-large" } } });
      }
      const archive = await inTime(fetch(`${server.url}/api/repos/me/bomb/archive/linked.tar.gz`));
      expect(archive.status).toBe(200);
      await archive.body!.cancel();
    },
  );

  test(
    "a merge of two bombs, and an archive that is not read to its end",
    { tags: "sweep", timeout: 180_000 },
    async () => {
      const merge = { base: "main", head: "fork", message: "Merge", author: { name: "Ada", email: "ada@example.com" } };
      const merged = await inTime(askApi(server, "/repos/me/bomb/merge", { method: "POST", json: merge }));
      expect(merged).toMatchObject({ status: 413, body: { error: { code: "too-large" } } });
      const archive = await fetch(`${server.url}/api/repos/me/bomb/archive/main.tar`);
      expect(archive.status).toBe(200);
      await archive.body!.cancel();
      expect((await readRefs(url)).get("refs/heads/main")).toBe(tip.oid);
    },
  );
}
