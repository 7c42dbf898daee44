import { expect, test } from "vitest";
import { hashStored, StoredHash } from "../../../src/base/chunks/stored-hash.ts";
import { objectOf } from "../../harness/lfs.ts";
import { FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { Random } from "../../harness/random.ts";

const MIB = 1024 ** 2;

test("an object is hashed at once, in several goes, and on after a failed read", async () => {
  const store = new MemoryChunkStore();
  for (const size of [0, 1, 4 * MIB, 12 * MIB + 7]) {
    const { oid, bytes } = objectOf(Buffer.from(new Random(size).bytes(size)));
    await store.put("a", bytes);
    const told: number[] = [];
    expect(await hashStored(store, "a", size, async (read) => void told.push(read))).toBe(oid);
    expect(told.reduce((sum, read) => sum + read, 0)).toBe(size);

    const hash = new StoredHash("a", size);
    const failing = new FaultyChunkStore(store, ({ number }) => (number % 2 === 0 ? "before" : null));
    let goes = 0;
    for (let found: string | null = null; found === null; goes++) {
      found = await hash.advance(failing, () => goes % 2 === 0).catch(() => null);
      expect(hash.readBytes).toBeLessThanOrEqual(size);
      if (found !== null) expect(found).toBe(oid);
    }
    expect(goes).toBeGreaterThanOrEqual(Math.ceil(size / (4 * MIB)));
  }
});
