import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { CHUNK_TARGET_BYTES, HOT_PUSH_BYTES, MULTIPART_PART_BYTES } from "../../../src/base/format/limits.ts";
import { ChunkWriter, type WrittenChunk } from "../../../src/object/push/chunk-writer.ts";
import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";
import { type ChunkCall, type Fault, faultAt, FaultyChunkStore, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { Random } from "../../harness/random.ts";
import { testSome } from "../../harness/sweep.ts";

/** Where a pack's header ends and its first entry begins. */
const HEADER_BYTES = 12;

/** Bytes that differ everywhere, and are cheap to make. */
function makeBytes(length: number, seed = 1): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0, state = seed; i < words.length; i++)
    words[i] = state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return new Uint8Array(words.buffer, 0, length);
}

interface Written {
  readonly writer: ChunkWriter;
  readonly chunks: WrittenChunk[];
  readonly peakBytes: number;
  /** How often it announced its first write. */
  readonly announced: number;
}

class Run {
  readonly writer: ChunkWriter;
  peakBytes = 0;
  announced = 0;
  readonly #body: Uint8Array;
  readonly #ends: number[] = [];

  /** @param sizes bytes of each entry */
  constructor(store: ChunkStore, sizes: readonly number[], body: Uint8Array) {
    this.#body = body;
    for (const size of sizes) this.#ends.push((this.#ends.at(-1) ?? HEADER_BYTES) + size);
    this.writer = new ChunkWriter({ chunks: store, keyPrefix: "k/", beforeFirstWrite: () => (this.announced += 1) });
  }

  async append(pieceBytes: () => number): Promise<void> {
    for (let at = 0; at < this.#body.length;) {
      const piece = this.#body.subarray(at, at + pieceBytes());
      await this.writer.append(
        piece,
        HEADER_BYTES + at,
        (from, to) => this.#ends.find((end) => end > from && end <= to) ?? null,
      );
      at += piece.length;
      this.peakBytes = Math.max(this.peakBytes, this.writer.memoryBytes);
    }
  }

  async finish(): Promise<Written> {
    const chunks = await this.writer.finish();
    return { writer: this.writer, chunks, peakBytes: this.peakBytes, announced: this.announced };
  }
}

async function write(
  store: ChunkStore,
  sizes: readonly number[],
  pieceBytes: () => number,
  body = makeBytes(sum(sizes)),
): Promise<Written> {
  const run = new Run(store, sizes, body);
  await run.append(pieceBytes);
  return run.finish();
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}

/** Sizes of the chunks that entries result in: each chunk ends with the first entry that ends at
 * the target or after it. */
function cutByHand(sizes: readonly number[]): number[] {
  const chunks = [0];
  for (const size of sizes) {
    if (chunks.at(-1)! >= CHUNK_TARGET_BYTES) chunks.push(0);
    chunks[chunks.length - 1]! += size;
  }
  return chunks.filter((size) => size > 0);
}

function isWrite({ operation }: ChunkCall): boolean {
  return operation === "put" || operation === "putPart";
}

const draws: readonly (readonly [name: string, sizes: (random: Random) => number[]])[] = [
  ["small entries", (random) => Array.from({ length: 8_000 }, () => random.below(1_000))],
  ["entries of up to 3 MB", (random) => Array.from({ length: 12 }, () => random.below(3_000_000))],
  [
    "large entries between small ones",
    (random) => [5, 100, 9_000_000, 10, random.below(40_000_000), 70, 2_000_000, 1_999_999, 1, 8 * 1024 * 1024],
  ],
  ["parts that end exactly", () => [MULTIPART_PART_BYTES, 2 * MULTIPART_PART_BYTES, MULTIPART_PART_BYTES + 1, 1]],
  ["empty boundaries", () => [0, 0, 300_000, 0, CHUNK_TARGET_BYTES - 300_000, 0, 0, 5]],
];

describe.each(draws)("%s", (_, draw) => {
  testSome(1, [1, 2], "are cut where they should be, and cost few writes (%i)", async (seed) => {
    const random = new Random(seed);
    const sizes = draw(random);
    const body = makeBytes(sum(sizes), seed);
    const store = new FaultyChunkStore(new MemoryChunkStore(), NO_FAULTS);
    const { chunks, peakBytes, announced } = await write(store, sizes, () => 1 + random.below(1_500_000), body);

    expect(chunks.map(({ sizeBytes }) => sizeBytes)).toEqual(cutByHand(sizes));
    expect(store.calls.filter(isWrite).length).toBeLessThanOrEqual(body.length / CHUNK_TARGET_BYTES + 1);
    expect(announced).toBe(1);
    expect(peakBytes).toBeLessThan(24 * 1024 * 1024 + 2 * MULTIPART_PART_BYTES);
    for (const { key, bytes, packOffset, sizeBytes, checksum } of chunks) {
      const expected = body.subarray(packOffset - HEADER_BYTES, packOffset - HEADER_BYTES + sizeBytes);
      expect(bytes).toBe(null);
      expect(Buffer.compare(await store.read(key!, 0, sizeBytes), expected)).toBe(0);
      expect(Buffer.compare(checksum, createHash("sha1").update(expected).digest())).toBe(0);
    }
  });
});

test("parts are equal but the last", async () => {
  const parts: number[] = [];
  class Watched extends MemoryChunkStore {
    override async createMultipart(key: string) {
      const inner = await super.createMultipart(key);
      return {
        ...inner,
        putPart: (number: number, bytes: Uint8Array) => (parts.push(bytes.length), inner.putPart(number, bytes)),
      };
    }
  }
  await write(new Watched(), [20_000_000], () => 262_144);
  expect(parts).toEqual([MULTIPART_PART_BYTES, MULTIPART_PART_BYTES, 20_000_000 - 2 * MULTIPART_PART_BYTES]);
});

describe("inline", () => {
  test.each([0, 1, 1_000, HOT_PUSH_BYTES - 1])("a pack of %i bytes touches no store", async (size) => {
    const store = new FaultyChunkStore(new MemoryChunkStore(), NO_FAULTS);
    const { chunks, announced } = await write(store, [size], () => 100_000);
    expect(store.calls).toEqual([]);
    expect(announced).toBe(0);
    expect(chunks.map(({ key, bytes }) => [key, bytes!.length])).toEqual(size === 0 ? [] : [[null, size]]);
  });

  test("a pack of HOT_PUSH_BYTES does not", async () => {
    const { chunks } = await write(new MemoryChunkStore(), [HOT_PUSH_BYTES], () => 100_000);
    expect(chunks.map(({ key }) => key)).toEqual(["k/0"]);
  });
});

describe("reading back", () => {
  test("anything, at any time, is what was written", { tags: "sweep" }, async () => {
    const random = new Random(9);
    const sizes = Array.from({ length: 220 }, () => random.below(300_000));
    sizes.push(11_000_000, 400, 300_000);
    const ends = sizes.map((_, i) => HEADER_BYTES + sum(sizes.slice(0, i + 1)));
    const body = makeBytes(sum(sizes));
    const { writer, chunks } = await write(new MemoryChunkStore(), sizes, () => 262_144, body);
    for (let i = 0; i < 400; i++) {
      const entry = random.below(sizes.length);
      const offset = ends[entry]! - sizes[entry]!;
      const out = new Uint8Array(Math.min(sizes[entry]!, 200_000));
      if (out.length === 0) continue;
      if (writer.readBack(offset, out) < out.length) {
        await writer.load(offset, out.length);
        expect(writer.readBack(offset, out)).toBe(out.length);
      }
      expect(Buffer.compare(out, body.subarray(offset - HEADER_BYTES, offset - HEADER_BYTES + out.length))).toBe(0);
      expect(writer.memoryBytes).toBeLessThan(32 * 1024 * 1024);
    }
    expect(writer.readBack(HEADER_BYTES + body.length, new Uint8Array(5))).toBe(0);
    expect(chunks.length).toBeGreaterThan(10);
  });

  test("what was loaded is found behind an older piece that ends too early", { tags: "sweep" }, async () => {
    const sizes = Array.from({ length: 300 }, () => 100_000);
    const { writer } = await write(new MemoryChunkStore(), sizes, () => 262_144);
    const out = new Uint8Array(100_000);
    // The first chunks are no longer in memory; a load from 12 ends after 1 MiB, inside the
    // eleventh entry.
    await writer.load(HEADER_BYTES, out.length);
    const offset = HEADER_BYTES + 10 * 100_000;
    expect(writer.readBack(offset, out)).toBeLessThan(out.length);
    await writer.load(offset, out.length);
    expect(writer.readBack(offset, out)).toBe(out.length);
  });

  test("an offset that nothing holds is an error", async () => {
    const { writer } = await write(new MemoryChunkStore(), [100], () => 100);
    await expect(writer.load(5_000, 10)).rejects.toMatchObject({ code: "storage-failed" });
  });
});

describe("failures", () => {
  const sizes = [700_000, 1_400_000, 2_100_000, 17_000_000, 50, 2_000_000, 2_000_000, 2_000_000, 2_000_000, 5];

  test("of any one call are reported, and the writes end", { tags: "sweep" }, async () => {
    const body = makeBytes(sum(sizes));
    const healthy = new FaultyChunkStore(new MemoryChunkStore(), NO_FAULTS);
    await write(healthy, sizes, () => 262_144, body);
    const faults: Fault[] = ["before", "after", "crash"];
    for (let number = 1; number <= healthy.calls.length; number++) {
      const store = new FaultyChunkStore(new MemoryChunkStore(), faultAt(number, faults[number % 3]!));
      const run = new Run(store, sizes, body);
      const failure = await run
        .append(() => 262_144)
        .then(() => run.finish())
        .catch((error: unknown) => error);
      expect(failure, `call ${number}`).toMatchObject({ code: "storage-failed" });
      await run.writer.abort();
    }
    expect(healthy.calls.length).toBeGreaterThan(10);
  });

  test("without a code of their own are reported as the store's", async () => {
    class Broken extends MemoryChunkStore {
      override put(): Promise<void> {
        return Promise.reject(new TypeError("no connection"));
      }
    }
    await expect(write(new Broken(), [3_000_000], () => 500_000)).rejects.toMatchObject({
      code: "storage-failed",
      cause: { message: "no connection" },
    });
  });
});
