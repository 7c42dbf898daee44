// Packs of every kind, pushed to a whole repository: a clone that git checks returns the same
// objects.
import { expect, test } from "vitest";
import { append, makeSamplePacks } from "../../base/codec/packs.ts";
import { GitError } from "../../../src/base/format/errors.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { Random } from "../../harness/random.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import {
  assemblePack,
  makeCommit,
  makeObject,
  type MadeObject,
  makeTree,
  ofsDelta,
  packOf,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { GatedStore } from "../maintenance/housekeep.ts";
import { packRevisions, PushedRepository } from "../pushing.ts";

async function expectObjects(pack: Buffer, objects: readonly { oid: string }[]): Promise<void> {
  const dir = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack });
  expect(indexed.stderr).toBe("");
  const held = await git(dir, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects");
  expect(held.split("\n").sort()).toEqual([...new Set(objects.map(({ oid }) => oid))].sort());
}

/** A tree that holds these blobs, and a commit of it. */
function makeHolder(blobs: readonly MadeObject[]): { tree: MadeObject; commit: MadeObject } {
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `b${String(i).padStart(4, "0")}`, blob] as const));
  return { tree, commit: makeCommit(tree) };
}

test("every sample pack, in small pieces and large", { tags: "sweep" }, async () => {
  for (const { name, pack, stored } of await makeSamplePacks()) {
    const repository = new PushedRepository();
    const holder = makeHolder([makeObject("blob", "holder")]);
    const extra = [makeObject("blob", "holder"), holder.tree, holder.commit];
    await repository.push([["refs/heads/main", null, holder.commit.oid]], packOf(...extra, ...stored));
    const pushed = await repository.push([["refs/heads/x", null, holder.commit.oid]], pack, { pieceBytes: 5_000 });
    expect(pushed, name).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/x", error: null }] });
  }
});

test("a history pushed step by step is cloned as it is", async () => {
  const dir = await makeHistory({ commits: 60, files: 30, branches: 2, merges: 1, tags: 3 });
  const repository = new PushedRepository();
  for (const step of ["main~50", "main~49", "main~20", "main"]) {
    const result = await repository.pushFrom(dir, { "refs/heads/main": step });
    expect(result).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/main", error: null }] });
  }
  expect(repository.events.length).toBe(4);
  const tip = await git(dir, "rev-parse", "main");
  const listed = await git(dir, "rev-list", "--objects", "--no-object-names", "main");
  await expectObjects(
    await repository.clone(tip),
    listed.split("\n").map((oid) => ({ oid })),
  );
});

test("REF deltas that build on one another over a thin base, in any order", async () => {
  const root = makeObject("blob", "stored line\n".repeat(50));
  const first = append(root, "one");
  const second = append(first.object, "two");
  const third = append(second.object, "three");
  const blobs = [root, first.object, second.object, third.object];
  const holder = makeHolder(blobs);
  const deltas = [
    encodeEntry(refDelta(root.oid, first.delta)),
    encodeEntry(refDelta(first.object.oid, second.delta)),
    encodeEntry(refDelta(second.object.oid, third.delta)),
  ];
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    const repository = new PushedRepository();
    const start = makeHolder([root]);
    await repository.push([["refs/heads/main", null, start.commit.oid]], packOf(root, start.tree, start.commit));
    const pack = assemblePack([...order.map((i) => deltas[i]!), encodeEntry(holder.tree), encodeEntry(holder.commit)]);
    const result = await repository.push([["refs/heads/x", null, holder.commit.oid]], pack);
    expect(result).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/x", error: null }] });
    await expectObjects(await repository.clone(holder.commit.oid), [...blobs, holder.tree, holder.commit]);
  }
});

test("an OFS delta on the second copy of an object is cloned on the first", { tags: "sweep" }, async () => {
  const random = new Random(1);
  const [a, b] = [makeObject("blob", random.bytes(2_100_000)), makeObject("blob", random.bytes(2_100_000))];
  const root = makeObject("blob", "root line\n".repeat(40));
  const twice = append(root, "twice");
  const onTwice = append(twice.object, "more");
  // Enough objects for a fetch to look for whole chunks.
  const few = Array.from({ length: 1_100 }, (_, i) => makeObject("blob", `${i}\n`));
  const blobs = [root, twice.object, onTwice.object, a, b, ...few];
  const holder = makeHolder(blobs);
  // The delta copy comes first and waits for its base. The whole copy, which is the one stored, is
  // in the next chunk.
  const early = encodeEntry(refDelta(root.oid, twice.delta));
  const between = [encodeEntry(a), encodeEntry(twice.object), encodeEntry(root)];
  const distance = early.length + between.reduce((sum, entry) => sum + entry.length, 0);
  const pack = assemblePack([
    early,
    ...between,
    encodeEntry(ofsDelta(distance, onTwice.delta)),
    encodeEntry(b),
    ...few.map((blob) => encodeEntry(blob)),
    encodeEntry(holder.tree),
    encodeEntry(holder.commit),
  ]);
  const repository = new PushedRepository();
  const result = await repository.push([["refs/heads/main", null, holder.commit.oid]], pack);
  expect(result).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/main", error: null }] });
  expect(repository.tables.chunks.allInOrder().map(({ whole }) => whole)).toEqual([false, false, true]);
  await expectObjects(await repository.clone(holder.commit.oid), [...blobs, holder.tree, holder.commit]);
});

test("what a thin pack builds on may be missing: the push is refused with its name", async () => {
  const base = makeObject("blob", "nowhere\n");
  const { delta } = append(base, "x");
  const repository = new PushedRepository();
  const result = await repository.push(
    [["refs/heads/main", null, base.oid]],
    assemblePack([encodeEntry(refDelta(base.oid, delta))]),
  );
  expect(result.unpack).toContain(`the delta base ${base.oid} is neither in it nor in the repository`);
});

test("a pack of revisions that the repository holds already moves the ref and stores nothing", async () => {
  const dir = await makeHistory({ commits: 5, files: 3 });
  const repository = new PushedRepository();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  const last = repository.tables.objects.lastNumber();
  const tip = await git(dir, "rev-parse", "main");
  const result = await repository.push([["refs/heads/again", null, tip]], await packRevisions(dir, [tip]));
  expect(result.refs[0]!.error).toBe(null);
  expect(repository.tables.objects.lastNumber()).toBe(last);
  expect(repository.tables.chunks.allInOrder().length).toBe(1);
});

test("a write that fails, and has its effect once the push has ended, is swept all the same", async () => {
  const chunks = new MemoryChunkStore();
  const gated = new GatedStore(chunks);
  const repository = new PushedRepository({ chunks: gated });
  const late: [key: string, bytes: Uint8Array][] = [];
  gated.put = async (key, bytes) => {
    late.push([key, bytes.slice()]);
    throw new GitError("storage-failed", { key });
  };
  const blob = makeObject("blob", new Random(3).bytes(300_000));
  const { tree, commit } = makeHolder([blob]);
  const push = repository.push([["refs/heads/main", null, commit.oid]], packOf(blob, tree, commit));
  await expect(push).rejects.toThrow("storage");
  await repository.repository.runJobs(Date.now() + 1_000);
  for (const object of late) await chunks.put(...object);
  expect(await repository.keys()).toHaveLength(1);
  await repository.repository.runJobs(Date.now() + 61 * 60_000);
  expect(await repository.keys()).toEqual([]);
});
