import { expect, test } from "vitest";
import { OpenRange } from "../../../src/base/chunks/open-range.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";

const MIB = 1024 * 1024;
const START = 1_000;
const SIZE = 10 * MIB + 77;

/** A store whose transfers end too early as often as it is told to. */
class Watched extends MemoryChunkStore {
  readonly opened: [offset: number, length: number][] = [];
  cancelled = 0;
  /** Bytes after which each transfer from here on breaks, one after the other. */
  breaks: number[] = [];

  override async open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    this.opened.push([offset, length]);
    const bytes = await this.read(key, offset, length);
    const end = this.breaks.shift() ?? length;
    let at = 0;
    return new ReadableStream({
      type: "bytes",
      pull: (controller) => {
        const piece = bytes.slice(at, Math.min(end, at + 100_000));
        at += piece.length;
        if (piece.length > 0) controller.enqueue(piece);
        else if (end < length) controller.error(new Error("connection lost"));
        if (at === length) controller.close();
      },
      cancel: () => void (this.cancelled += 1),
    });
  }
}

const bytes = new Uint8Array(START + SIZE).map((_, i) => i * 7 + (i >> 9));

async function openStore(): Promise<Watched> {
  const store = new Watched();
  await store.put("key", bytes);
  return store;
}

async function readAll(range: OpenRange, pieceBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let [left, buffer] = [SIZE, new ArrayBuffer(pieceBytes + 5)]; left > 0;) {
    const piece = await range.read(new Uint8Array(buffer, 5));
    expect(piece.length).toBe(Math.min(pieceBytes, left));
    pieces.push(piece.slice());
    left -= piece.length;
    buffer = piece.buffer;
  }
  return Buffer.concat(pieces);
}

test.each([64 * 1024, 512 * 1024, 1_000_003])(
  "a large range is read window by window, in pieces of %i",
  async (piece) => {
    const store = await openStore();
    const read = await readAll(new OpenRange(store, "key", START, SIZE), piece);
    expect(Buffer.compare(read, bytes.subarray(START))).toBe(0);
    expect(store.opened).toEqual([
      [START, 4 * MIB],
      [START + 4 * MIB, 4 * MIB],
      [START + 8 * MIB, SIZE - 8 * MIB],
    ]);
  },
);

test("a window that breaks is reopened where it stopped; one that breaks there again is an error", async () => {
  const store = await openStore();
  // The first in its middle, the second at its beginning: it has waited since the first began.
  store.breaks = [3 * MIB, 0];
  const read = await readAll(new OpenRange(store, "key", START, SIZE), 1_000_003);
  expect(Buffer.compare(read, bytes.subarray(START))).toBe(0);
  store.breaks = [3 * MIB, Infinity, 0];
  await expect(readAll(new OpenRange(store, "key", START, SIZE), MIB)).rejects.toThrow("connection lost");
  store.breaks = [0];
  await expect(readAll(new OpenRange(store, "key", START, SIZE), MIB)).rejects.toThrow("connection lost");
});

test("both windows are cancelled", async () => {
  const store = await openStore();
  const range = new OpenRange(store, "key", START, SIZE);
  await range.read(new Uint8Array(1_000));
  await range.cancel();
  expect(store.opened).toHaveLength(2);
  expect(store.cancelled).toBe(2);
});
