import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, expect, test } from "vitest";
import { ISOLATE_MEMORY, type Lease } from "../../../src/base/pacing/memory-budget.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { openFor } from "../history/filtered-repository.ts";
import { PushedRepository } from "../pushing.ts";

const MIB = 1024 * 1024;

/** Counts what is read. */
class CountingStore extends MemoryChunkStore {
  readonly keys: string[] = [];
  readBytes = 0;

  override read(key: string, offset: number, length: number): Promise<Uint8Array> {
    this.keys.push(key);
    this.readBytes += length;
    return super.read(key, offset, length);
  }
}

const store = new CountingStore();
const repository = new PushedRepository({ chunks: store });
/** 12 MB that do not compress, in chunks of 2 MB. */
const blobs = Array.from({ length: 600 }, () => makeObject("blob", randomBytes(20_000)));
let leases: Lease[] = [];

beforeAll(async () => {
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `file-${1_000 + i}`, blob] as const));
  const commit = makeCommit(tree);
  const { unpack } = await repository.push([["refs/heads/main", null, commit.oid]], packOf(...blobs, tree, commit));
  expect(unpack).toBe("ok");
});

afterEach(() => {
  for (const lease of leases) lease.free();
  leases = [];
  store.keys.length = 0;
});

const numberOf = ({ oid }: { readonly oid: string }): number =>
  repository.tables.objects.find(Buffer.from(oid, "hex"))!.number;

test("objects that are read in any order: each chunk is read once, though few fit in memory", async () => {
  // Every fourth, the neighbours far apart: 3 MB from all chunks.
  const wanted = Array.from({ length: 150 }, (_, i) => blobs[4 * ((37 * i) % 150)]!);
  // Leaves memory for two chunks, or for the entries.
  leases = [await ISOLATE_MEMORY.takeLarge(), await ISOLATE_MEMORY.take(55 * MIB)];
  const prepared = openFor(repository).reader.prepare(wanted.map(numberOf));
  for (const blob of wanted) {
    const { bytes } = await prepared.read(numberOf(blob));
    expect(Buffer.compare(bytes, blob.content)).toBe(0);
  }
  expect(new Set(store.keys).size).toBeGreaterThan(4);
  expect(store.keys.length).toBe(new Set(store.keys).size);
});

test("objects far from each other in a chunk are read by themselves", async () => {
  const wanted = [blobs[1]!, blobs[51]!];
  const prepared = openFor(repository).reader.prepare(wanted.map(numberOf));
  const before = store.readBytes;
  for (const blob of wanted) expect((await prepared.read(numberOf(blob))).bytes).toHaveLength(20_000);
  expect(store.keys).toHaveLength(2);
  expect(store.readBytes - before).toBeLessThan(41_000);
});
