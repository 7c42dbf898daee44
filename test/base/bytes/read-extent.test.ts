import { expect, test } from "vitest";
import { holdExtent, readExtent, WHOLE_READ_BYTES } from "../../../src/base/bytes/read-extent.ts";
import type { Extent } from "../../../src/base/bytes/pack-plan.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";

const MIB = 1024 * 1024;

/** More chunks than an isolate keeps. */
const CHUNKS = 40;

/** A store that remembers what it has read. */
class ReadStore extends MemoryChunkStore {
  readonly buffers: ArrayBufferLike[] = [];

  override async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    const bytes = await super.read(key, offset, length);
    this.buffers.push(bytes.buffer);
    return bytes;
  }

  /** Bytes that were read and not freed. */
  get heldBytes(): number {
    return this.buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }
}

async function makeStore(name: string): Promise<{ store: ReadStore; extentOf: (i: number) => Extent }> {
  const store = new ReadStore();
  for (let i = 0; i < CHUNKS; i++) await store.put(`${name}/${i}`, new Uint8Array(WHOLE_READ_BYTES / 2).fill(i));
  return { store, extentOf: (i) => ({ key: `${name}/${i}`, start: 0, length: WHOLE_READ_BYTES / 2 }) };
}

test("a chunk that is not kept is freed at once, and what was read of it stays", async () => {
  const { store, extentOf } = await makeStore("freed");
  const parts: Uint8Array[] = [];
  for (let i = 0; i < CHUNKS; i++) parts.push(await readExtent(store, extentOf(i), 1_000, 100));
  expect(store.buffers.length).toBe(CHUNKS);
  expect(store.heldBytes).toBeLessThanOrEqual(32 * MIB);
  expect(parts.map((part) => [part.length, part[99]])).toEqual(parts.map((_, i) => [100, i]));
});

test("a chunk that is held stays until the last who holds it releases it", async () => {
  const { store, extentOf } = await makeStore("held");
  const [first, second] = [await holdExtent(store, extentOf(7)), await holdExtent(store, extentOf(7))];
  expect(store.buffers.length).toBe(1);
  for (let i = 0; i < CHUNKS; i++) if (i !== 7) await readExtent(store, extentOf(i), 0, 1);
  first.release();
  expect([second.bytes.length, second.bytes[5]]).toEqual([WHOLE_READ_BYTES / 2, 7]);
  second.release();
  expect(store.buffers[0]!.byteLength).toBe(0);
});
