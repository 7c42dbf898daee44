/** A history of 80,000 commits comes in by each way: a plain push, the remote helper, an import.
 * Each is timed beside git's own push of the same, in turns, and done again while the server is
 * killed thirty times. */
import { createHash } from "node:crypto";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { git, listRefs, tryGit } from "../harness/git.ts";
import { type NativeServer, startNative } from "../harness/native.ts";
import { Random } from "../harness/random.ts";
import { tryHelper } from "../harness/remote-helper.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { importCommit, importFile, importRepository } from "./round-trip.ts";

const COMMITS = 80_000;
const KILLS = 30;
const ROUNDS = 5;

/** How much longer than git's own push a way may take: the median of the rounds. */
const MOST_TIMES = 1.3;

/** Brings the history to a repository of a server.
 * @param name with its owner
 * @returns whether it has arrived; if not, it is to be tried again */
type Way = (server: Server, name: string) => Promise<boolean>;

let origin: string;
let native: NativeServer;
let nativeRoot: string;
let pushedToNative = 0;
let facts: Facts;

beforeAll(async () => {
  // Each commit brings itself, a file, and the three trees above it. With wider trees, the index of
  // a plain push would exceed its limit.
  const commits = Array.from(
    { length: COMMITS },
    (_, i) => importCommit(i) + importFile(`dir-${i % 20}/part-${i % 100}/file-${i % 1_000}`, `line ${i}`),
  );
  origin = await importRepository(commits);
  for (let i = 1; i <= 30; i++) {
    await git(origin, "tag", "-a", "-m", `${i}`, `v${i}`, `main~${i * 2_000}`);
    await git(origin, "branch", `branch-${i}`, `main~${i * 1_500}`);
  }
  await git(origin, "repack", "-adq");
  nativeRoot = makeTempDir("native");
  native = await startNative(nativeRoot);
  await cp(origin, join(nativeRoot, "long.git"), { recursive: true });
  facts = await readFacts(origin);
  console.log(`${COMMITS} commits, ${facts.objects} objects`);
});
afterAll(() => native.close());

const push: Way = async (server, name) => {
  const { code, stderr } = await tryGit(origin, ["push", "-q", "--mirror", `${server.url}/${name}`]);
  if (code !== 0) expect(stderr).toMatch(/RPC failed|hung up|unable to access|Connection|Couldn't connect/);
  return code === 0;
};

const pushByHelper: Way = async (server, name) =>
  (await tryHelper(origin, ["push", "--mirror", `holdfast::${server.url}/${name}`])).code === 0;

const importIt: Way = async (server, repository) => {
  const path = `/repos/${repository}/import`;
  const ask = <Body>(way: string, method: string, json?: unknown) =>
    askApi<Body>(server, way, { method, ...(json !== undefined && { json }) });
  try {
    const [owner, name] = repository.split("/");
    await ask("/repos", "POST", { owner, name });
    const begun = await ask(path, "POST", { url: `${native.url}/long.git` });
    // A job that has ended with its process again and again waits ever longer, unless somebody
    // asks.
    if (begun.status !== 202) await ask(`${path}/sync`, "POST");
    for (;;) {
      const { state, error } = (await ask<{ state: string; error: string | null }>(path, "GET")).body;
      if (state !== "running") expect([state, error]).toEqual(["done", null]);
      if (state === "done") return true;
      await sleep(100);
    }
  } catch (error) {
    // The server was killed while it was asked.
    if (error instanceof TypeError) return false;
    throw error;
  }
};

test.each<[string, Way, resumes: boolean]>([
  ["a plain push", push, false],
  ["the remote helper", pushByHelper, true],
  ["an import", importIt, false],
])("%s brings the history whole, also when the server is killed", async (title, way, resumes) => {
  const rounds: { readonly own: Cost; readonly git: Cost }[] = [];
  while (rounds.length < ROUNDS) {
    const isFirst = rounds.length === 0;
    rounds.push({ git: await pushToNative(), own: await bringOnce(way, isFirst) });
  }
  const timesOf = (what: keyof Cost): number[] =>
    rounds.map(({ own, git: other }) => own[what] / other[what]).toSorted((a, b) => a - b);
  const shown = rounds.map(({ own, git: other }) => `${own.ms} (${other.ms})`).join(", ");
  const show = (times: readonly number[]): string => times.map((value) => value.toFixed(2)).join(", ");
  console.log(`${title}: ms (git's own) ${shown}; times git's own ${show(timesOf("ms"))}`);
  console.log(`${title}: times git's own CPU of the server ${show(timesOf("cpuSeconds"))}`);
  const wholeMs = medianOf(rounds.map(({ own }) => own.ms));
  await withServer(async (server) => {
    // What begins anew is killed at any moment of the whole; what goes on, often on its way.
    const name = await bringAndKill(server, way, Math.ceil(resumes ? wholeMs / 3 : wholeMs));
    await expectWhole(`${server.url}/${name}`);
  });
  expect(medianOf(timesOf("ms"))).toBeLessThanOrEqual(MOST_TIMES);
});

/** What bringing the history once has cost: the wait, and CPU of the server. */
interface Cost {
  readonly ms: number;
  readonly cpuSeconds: number;
}

async function pushToNative(): Promise<Cost> {
  const name = `pushed-${pushedToNative++}.git`;
  await git(nativeRoot, "init", "-q", "--bare", name);
  const before = native.readCpuSeconds();
  const ms = await measure(() => git(origin, "push", "-q", "--mirror", `${native.url}/${name}`));
  return { ms, cpuSeconds: native.readCpuSeconds() - before };
}

/** @param isChecked whether what has arrived is compared */
async function bringOnce(way: Way, isChecked: boolean): Promise<Cost> {
  return withServer(async (server) => {
    const before = server.readUsage().cpuSeconds;
    const ms = await measure(async () => expect(await way(server, "me/whole")).toBe(true));
    const cpuSeconds = server.readUsage().cpuSeconds - before;
    if (isChecked) await expectWhole(`${server.url}/me/whole`);
    return { ms, cpuSeconds };
  });
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >>> 1]!;
}

/** Brings the history, and kills the server meanwhile, at random moments. If it arrives before that
 * has been done often enough, it is brought to another repository, too.
 * @param longestMs between a start and the next kill
 * @returns the name of the last repository */
async function bringAndKill(server: Server, way: Way, longestMs: number): Promise<string> {
  const random = new Random(longestMs);
  let kills = 0;
  for (let repositories = 1; ;) {
    const name = `me/killed-${repositories}`;
    const coming = way(server, name);
    let hasEnded = false;
    void coming.finally(() => (hasEnded = true)).catch(() => undefined);
    while (kills < KILLS) {
      await sleep(random.below(longestMs));
      if (hasEnded) break;
      kills += 1;
      await server.kill();
      await server.restart();
    }
    if (!(await coming)) continue;
    if (kills === KILLS) return name;
    repositories += 1;
  }
}

async function withServer<T>(use: (server: Server) => Promise<T>): Promise<T> {
  const server = await startServer({ vars: { ALLOW_PRIVATE_IMPORTS: "on" } });
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

/** What is equal of equal repositories. */
interface Facts {
  readonly refs: string;
  readonly objects: number;
  /** SHA-256 of the sorted list of all objects. */
  readonly digest: string;
}

async function readFacts(dir: string): Promise<Facts> {
  const objects = (await git(dir, "rev-list", "--objects", "--no-object-names", "--all")).split("\n").sort();
  const digest = createHash("sha256").update(objects.join("\n")).digest("hex");
  return { refs: await listRefs(dir), objects: objects.length, digest };
}

async function expectWhole(url: string): Promise<void> {
  const copy = join(makeTempDir("clone"), "copy.git");
  await git(origin, "clone", "-q", "--mirror", url, copy);
  expect(await readFacts(copy)).toEqual(facts);
  expect(await git(copy, "fsck", "--full")).toBe("");
  expect(await findProblems(url)).toEqual([]);
}

async function measure(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await act();
  return Math.round(performance.now() - startMs);
}
