import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MULTIPART_PART_BYTES } from "../../../src/base/format/limits.ts";
import { WINDOW_BYTES } from "../../../src/base/bytes/pack-reads.ts";
import type { BundleEvent } from "../../../src/contract/log-events.ts";
import type { StoredBundle } from "../../../src/contract/fetch.ts";
import { FaultyChunkStore, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { PushedRepository } from "../pushing.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const random = new Random(1);

/** A commit of random bytes, and its pack. */
interface Noise {
  readonly oid: string;
  readonly parent: string | null;
  readonly pack: Uint8Array;
}

function makeNoise(parent: string | null, sizeBytes: number, files = 1): Noise {
  const blobs = Array.from({ length: files }, () => makeObject("blob", random.bytes(sizeBytes / files)));
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `noise-${100 + i}`, blob] as const));
  const commit = makeCommit(tree, parent === null ? [] : [parent], "noise\n");
  return { oid: commit.oid, parent, pack: packOf(...blobs, tree, commit) };
}

async function pushMade(repository: PushedRepository, { oid, parent, pack }: Noise): Promise<string> {
  const { refs } = await repository.push([["refs/heads/main", parent, oid]], pack);
  expect(refs[0]!.error).toBeNull();
  return oid;
}

/** Pushes one commit of random bytes.
 * @returns its id */
function pushNoise(repository: PushedRepository, parent: string | null, sizeBytes: number, files = 1): Promise<string> {
  return pushMade(repository, makeNoise(parent, sizeBytes, files));
}

async function currentBundle(repository: PushedRepository): Promise<StoredBundle> {
  const [bundle] = (await repository.repository.bundles())!;
  return bundle!;
}

/** The keys of the bundles' objects in the store. */
async function bundleKeys(repository: PushedRepository): Promise<string[]> {
  return (await repository.keys()).filter((key) => key.includes("/bundles/"));
}

/** The bundle as a file. */
async function saveBundle(repository: PushedRepository): Promise<string> {
  const { key, sizeBytes } = await currentBundle(repository);
  const file = join(makeTempDir("bundle"), "served.bundle");
  writeFileSync(file, await repository.chunks.read(key, 0, sizeBytes));
  return file;
}

test("a bundle has every branch and tag, HEAD, and all that they lead to, and nothing else", async () => {
  const dir = await makeHistory({ commits: 60, files: 20, branches: 4, merges: 2, tags: 4 });
  await git(dir, "update-ref", "refs/tags/blob", await git(dir, "rev-parse", "main:dir-0/dir-0/file-0.txt"));
  await git(dir, "update-ref", "refs/notes/side", "side-3");
  await git(dir, "branch", "-q", "-D", "side-3");
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  const repository = new PushedRepository({ limits: { minBundleBytes: 1, bundleDelayMs: 0 } });
  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  await repository.repository.runJobs(Date.now() + 1);

  const file = await saveBundle(repository);
  const verified = await tryGit(dir, ["bundle", "verify", file]);
  expect(verified.stdout + verified.stderr).toContain("The bundle records a complete history");
  const ours = join(makeTempDir("bundle"), "ours.bundle");
  await git(dir, "bundle", "create", "-q", ours, "--branches", "--tags", "HEAD");
  const heads = async (bundle: string): Promise<string[]> =>
    (await git(dir, "bundle", "list-heads", bundle)).split("\n").sort();
  expect(await heads(file)).toEqual(await heads(ours));

  const clone = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), "clone", "-q", file, clone);
  expect(await git(clone, "rev-parse", "HEAD")).toBe(await git(dir, "rev-parse", "main"));
  const held = await makeRepository("held.git", "--bare");
  await git(held, "bundle", "unbundle", file);
  const objects = await git(held, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)");
  const expected = await git(dir, "rev-list", "--objects", "--no-object-names", "--branches", "--tags");
  expect(objects.split("\n").sort()).toEqual(expected.split("\n").sort());
});

test(
  "a bundle is built a minute after the push that makes it worth it, and anew when a fifth has come since",
  { tags: "sweep" },
  async () => {
    const repository = new PushedRepository();
    const { state } = repository.repository;
    const isPlanned = (): boolean =>
      repository.sql.exec("SELECT 1 FROM jobs WHERE kind = 'bundle'").toArray().length === 1;
    let tip = await pushNoise(repository, null, 4_100_000);
    expect(isPlanned()).toBe(false);
    tip = await pushNoise(repository, tip, 100_000);
    expect(isPlanned()).toBe(true);
    let now = Date.now();
    await repository.repository.runJobs(now + MINUTE_MS / 2);
    expect(await repository.repository.bundles()).toEqual([]);
    await repository.repository.runJobs(now + MINUTE_MS);
    const first = await currentBundle(repository);
    expect(first.sizeBytes).toBeGreaterThan(4_200_000);
    expect(isPlanned()).toBe(false);

    tip = await pushNoise(repository, tip, 24_000_000);
    await repository.repository.runJobs((now = Date.now()) + MINUTE_MS);
    const second = await currentBundle(repository);
    expect(second.token).toBeGreaterThan(first.token);
    expect(second.sizeBytes).toBeGreaterThan(28_200_000);
    // Clients are downloading the first.
    expect((await bundleKeys(repository)).sort()).toEqual([first.key, second.key].sort());
    await repository.repository.runJobs(now + DAY_MS + MINUTE_MS);
    // The next sweep.
    await repository.repository.runJobs(now + DAY_MS + 62 * MINUTE_MS);
    expect(await bundleKeys(repository)).toEqual([second.key]);
    expect(state.jobs.nextDueMs()).toBeNull();

    // A fifth of the repository, and more than the smallest bundle.
    tip = await pushNoise(repository, tip, 5_000_000);
    expect(isPlanned()).toBe(false);
    await pushNoise(repository, tip, 1_000_000);
    expect(isPlanned()).toBe(true);
  },
);

test("a push that brings no objects, and one that brings what is there, make no bundle due", async () => {
  const repository = new PushedRepository({ limits: { minBundleBytes: 1_000, bundleDelayMs: 0 } });
  const dir = await makeHistory({ commits: 30, files: 10 });
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  await repository.repository.runJobs(Date.now() + 1);
  const { token } = await currentBundle(repository);
  const pack = await tryGit(dir, ["pack-objects", "-q", "--revs", "--stdout"], { stdin: "main\n" });
  const tip = await git(dir, "rev-parse", "main");
  for (let i = 0; i < 3; i++) await repository.push([[`refs/heads/again-${i}`, null, tip]], pack.stdoutBytes);
  await repository.push([["refs/heads/again-0", tip, null]], null);
  await repository.repository.runJobs(Date.now() + 1);
  expect((await currentBundle(repository)).token).toBe(token);
});

test("without branches and tags there is no bundle", async () => {
  const repository = new PushedRepository({ limits: { minBundleBytes: 1, bundleDelayMs: 0 } });
  const dir = await makeHistory({ commits: 5, files: 2 });
  await repository.pushFrom(dir, { "refs/changes/1": "main" });
  await repository.repository.runJobs(Date.now() + 1);
  expect(await repository.repository.bundles()).toEqual([]);
  expect(repository.repository.state.jobs.nextDueMs()).toBeNull();
});

test("what a ref was taken back from leaves the bundle within a day; a fast-forward, or a merged branch, is no reason", async () => {
  const repository = new PushedRepository({ limits: { minBundleBytes: 10_000 } });
  const { jobs } = repository.repository.state;
  const base = await pushNoise(repository, null, 20_000);
  const side = makeNoise(base, 100);
  await repository.push([["refs/heads/side", null, side.oid]], side.pack);
  const now = Date.now();
  await repository.repository.runJobs(now + MINUTE_MS);
  const { token } = await currentBundle(repository);
  const tip = await pushNoise(repository, base, 100);
  await repository.push([["refs/heads/same", null, base]], null);
  await repository.push(
    [
      ["refs/heads/same", base, null],
      ["refs/heads/again", null, tip],
    ],
    null,
  );
  expect(jobs.nextDueMs()).toBeNull();

  await repository.push([["refs/heads/side", side.oid, base]], null);
  expect(jobs.nextDueMs()).toBe(token + DAY_MS);
  await repository.repository.runJobs(token + DAY_MS);
  const file = await saveBundle(repository);
  const held = await makeRepository("held.git", "--bare");
  await git(held, "bundle", "unbundle", file);
  expect((await tryGit(held, ["cat-file", "-e", side.oid])).code).not.toBe(0);
  expect((await tryGit(held, ["cat-file", "-e", tip])).code).toBe(0);
  expect((await currentBundle(repository)).token).toBeGreaterThan(token);
});

test("when the last branch is gone, so is the bundle", async () => {
  const repository = new PushedRepository({ limits: { minBundleBytes: 10_000 } });
  const tip = await pushNoise(repository, null, 20_000);
  await repository.push([["refs/heads/side", null, tip]], null);
  await repository.repository.runJobs(Date.now() + MINUTE_MS);
  expect((await repository.repository.bundles())!.length).toBe(1);
  repository.tables.refs.setHead("refs/heads/none");
  await repository.push(
    [
      ["refs/heads/main", tip, null],
      ["refs/heads/side", tip, null],
    ],
    null,
  );
  await repository.repository.runJobs(Date.now() + DAY_MS + MINUTE_MS);
  expect(await repository.repository.bundles()).toEqual([]);
  await repository.repository.runJobs(Date.now() + 2 * DAY_MS);
  expect(await bundleKeys(repository)).toEqual([]);
});

test("a large bundle goes up in equal parts, in bounded memory", { tags: "sweep" }, async () => {
  const chunks = new FaultyChunkStore(new MemoryChunkStore(), NO_FAULTS);
  const repository = new PushedRepository({ chunks });
  const tip = await pushNoise(repository, null, 20_000_000, 20);
  const before = chunks.calls.length;
  await repository.repository.runJobs(Date.now() + MINUTE_MS);
  const writes = chunks.calls.slice(before).filter(({ operation }) => operation !== "open");
  const { sizeBytes } = await currentBundle(repository);
  const parts = Math.ceil(sizeBytes / MULTIPART_PART_BYTES);
  expect(parts).toBe(3);
  expect(writes.map(({ operation }) => operation)).toEqual([
    "createMultipart",
    ...Array.from({ length: parts }, () => "putPart"),
    "complete",
  ]);
  const event = repository.events.find(({ event: kind }) => kind === "bundle") as BundleEvent;
  expect(event).toMatchObject({ objects: 22, sizeBytes });
  // One read window, one part, and the plan.
  expect(event.peakBytes).toBeLessThan(WINDOW_BYTES + MULTIPART_PART_BYTES + 10_000);
  const clone = await makeRepository("clone.git", "--bare");
  await git(clone, "fetch", "-q", await saveBundle(repository), "main");
  expect(await git(clone, "rev-parse", "FETCH_HEAD")).toBe(tip);
});

test("what is pushed while a bundle is built is not in it, but in the next", { tags: "sweep" }, async () => {
  let meanwhile: Promise<string> | null = null;
  const chunks = new FaultyChunkStore(new MemoryChunkStore(), ({ operation }) => {
    if (operation === "putPart") meanwhile ??= pushNoise(repository, tip, 2_500_000);
    return null;
  });
  const repository = new PushedRepository({ chunks, limits: { minBundleBytes: 100_000 } });
  const tip = await pushNoise(repository, null, 9_000_000, 3);
  const heads = async (): Promise<string> =>
    git(await makeRepository("empty"), "bundle", "list-heads", await saveBundle(repository));
  await repository.repository.runJobs(Date.now() + MINUTE_MS);
  expect(await heads()).toContain(`${tip} refs/heads/main`);
  const next = await meanwhile!;
  await repository.repository.runJobs(Date.now() + MINUTE_MS);
  expect(await heads()).toContain(`${next} refs/heads/main`);
});
