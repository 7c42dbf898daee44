// Large requests at the same time, to several repositories of one isolate. The platform gives an
// isolate 128 MB, but the local runtime has no limit, so the memory of the process is measured.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { measureRise } from "../harness/isolate-memory.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { encodePushHead, type PushAnswer, sendBody } from "../harness/raw-push.ts";
import { findFreePort, type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const MIB = 1024 * 1024;
const LINE_BYTES = 40;

/** How far the memory of the process may rise. 108 MiB of it are the isolate's budget. The rest is
 * the runtime's own: R2's simulator (an isolate in the same process), the databases' pages, and
 * what the allocator keeps. */
const MAX_RISE_MIB = 350;

/** The same for a few slow clients of two repositories. */
const SLOW_RISE_MIB = 200;

/** Small pushes of edits to a large text. */
const EDITS = 8;

let server: Server;
let inspectorPort: number;
/** Three repositories: three versions of a text whose deltas are resolved in memory, a text that is
 * too large for that, and many objects. */
let held: string;
let larger: string;
let many: string;

beforeAll(async () => {
  inspectorPort = await findFreePort();
  server = await startServer({ vars: { WORKTREES: "none" }, inspectorPort });
  [held, larger, many] = await Promise.all([makeVersions(15 * MIB), makeVersions(30 * MIB), makeMany(15_000)]);
  // These are stored for good, so all but the last two versions; and one repository with
  // everything.
  for (let i = 0; i < EDITS; i++) await push(held, `held-${i}`, "HEAD~2");
  await push(held, "first", "HEAD");
}, 240_000);

// Frees the memory of earlier tests.
beforeEach(() => server.restart(), 60_000);

afterAll(() => server.close());

function push(dir: string, name: string, commit = "HEAD"): Promise<string> {
  return git(dir, "push", "-q", `${server.url}/me/${name}.git`, `${commit}:refs/heads/main`);
}

/** Three versions of a text whose lines all differ, in one pack: two of them are deltas. */
async function makeVersions(sizeBytes: number): Promise<string> {
  const dir = await makeRepository("versions");
  const text = Buffer.alloc(sizeBytes, " ");
  for (let at = 0; at + LINE_BYTES <= sizeBytes; at += LINE_BYTES)
    text.write(`${at} ${(Math.imul(at, 0x9e37_79b1) >>> 0).toString(16)}`.padEnd(LINE_BYTES - 1) + "\n", at);
  for (let version = 0; version < 3; version++) {
    text.write(`version ${version}`, (version * sizeBytes) / 3);
    writeFileSync(join(dir, "large.txt"), text);
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", `version ${version}`);
  }
  await git(dir, "gc", "-q");
  return dir;
}

/** So many commits, each with a file, a directory and a root tree. */
async function makeMany(commits: number): Promise<string> {
  const dir = await makeRepository("many.git", "--bare");
  const commit = (i: number): string =>
    `commit refs/heads/main\ncommitter Ada Example <ada@example.com> ${1_700_000_000 + i} +0000\ndata 0\n` +
    `M 100644 inline dir-${i % 50}/file-${i % 1_000}\ndata ${String(i).length}\n${i}\n\n`;
  const stdin = Array.from({ length: commits }, (_, i) => commit(i)).join("");
  expect((await tryGit(dir, ["fast-import", "--quiet"], { stdin })).code).toBe(0);
  await git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
  return dir;
}

/** The largest rise of memory during an action, in MiB: of the process, and of the isolate without
 * WebAssembly. */
async function riseOf(act: () => Promise<unknown>): Promise<{ process: number; isolate: number }> {
  const { processBytes, isolateBytes } = await measureRise(server, inspectorPort, act);
  return { process: Math.round(processBytes / MIB), isolate: Math.round(isolateBytes / MIB) };
}

async function clone(name: string, ...options: string[]): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--bare", ...options, `${server.url}/me/${name}.git`, dir);
  return dir;
}

/** Pushes that lack only their end, each with an object of 30 MiB in memory in case deltas on it
 * follow.
 * @returns `end` ends them as corrupt pushes */
function stall(count: number): { end(): void; ended: Promise<PushAnswer[]> } {
  const noise = makeObject("blob", randomBytes(300_000));
  const tree = makeTree(["100644", "noise", noise]);
  const commit = makeCommit(tree, [], "word ".repeat(6 * MIB));
  const pack = packOf(noise, tree, commit, makeObject("blob", randomBytes(100_000)));
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const send = async (_: unknown, i: number): Promise<PushAnswer> => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield encodePushHead({ commands: [{ name: "refs/heads/main", new: commit.oid }] });
      yield pack.subarray(0, pack.length - 50_000);
      await promise;
    }
    return sendBody(`${server.url}/me/stalled-${i}.git`, body());
  };
  return { end, ended: Promise.all(Array.from({ length: count }, send)) };
}

/** A blob of 15 MiB that is stored as a delta, and so is held in memory whole while it is read. */
const DELTA = "api/repos/me/first/raw/main~1/large.txt";

test("slow clients: pushes that keep large objects in memory, and large files that nobody takes", async () => {
  const answered: IncomingMessage[] = [];
  const ask = async (): Promise<void> => {
    const asked = request(`${server.url}/${DELTA}`).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    answered.push(response);
  };
  const statuses: (number | undefined)[] = [];
  const rise = await riseOf(async () => {
    const stalled = stall(2);
    await wait(2_000);
    const asked = Promise.all(Array.from({ length: 12 }, ask));
    await wait(3_000);
    stalled.end();
    for (const { unpack } of await stalled.ended) expect(unpack).toMatch(/corrupt/);
    await wait(1_000);
    // A client that took nothing now reads everything, so that the next one gets memory.
    for (let i = 0; i < 12; i++) {
      while (answered[i] === undefined) await wait(50);
      statuses.push(answered[i]!.statusCode);
      answered[i]!.resume();
    }
    await asked;
  });
  console.log("slow clients, rise in MiB", JSON.stringify(rise));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(rise.process).toBeLessThan(SLOW_RISE_MIB);
  expect(rise.isolate).toBeLessThan(100);
}, 120_000);

test("large pushes, small ones that edit large files, and clones, all at once, take little more than one of each", async () => {
  const rise = await riseOf(async () => {
    const stalled = stall(2);
    const others = [
      // Some kilobytes each, on a base of 15 MiB.
      ...Array.from({ length: EDITS }, (_, i) => push(held, `held-${i}`)),
      ...[0, 1].flatMap((i) => [push(held, `whole-${i}`), push(larger, `larger-${i}`), push(many, `many-${i}`)]),
      // Objects that are stored only as deltas are undeltified.
      ...[1, 2, 1, 2].map((depth) => clone("first", `--depth=${depth}`)),
    ];
    await wait(8_000);
    stalled.end();
    for (const { unpack } of await stalled.ended) expect(unpack).toMatch(/corrupt/);
    await Promise.all(others);
  });
  console.log("large pushes at once, rise in MiB", JSON.stringify(rise));
  expect(rise.process).toBeLessThan(MAX_RISE_MIB);
  expect(rise.isolate).toBeLessThan(100);
  for (const name of ["held-0", "whole-0", "larger-1", "many-1"]) {
    const bare = await clone(name);
    expect(await git(bare, "fsck", "--full")).toBe("");
    expect(await listRefs(bare)).not.toBe("");
  }
}, 300_000);
