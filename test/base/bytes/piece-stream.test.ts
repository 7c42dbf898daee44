import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressedPieces } from "../../../src/worker/files/zip-archive.ts";
import { streamPieces } from "../../../src/base/bytes/piece-stream.ts";

const MIB = 1024 * 1024;

test("what compresses to next to nothing comes out while it is made", { tags: "sweep" }, async () => {
  let given = 0;
  function* pieces(): Generator<Uint8Array> {
    for (; given < 64; given++) yield new Uint8Array(MIB);
  }
  const made: Uint8Array[] = [];
  let givenAtFirst: number | null = null;
  for await (const piece of compressedPieces(pieces(), "gzip")) {
    givenAtFirst ??= given;
    made.push(piece);
  }
  expect(givenAtFirst).toBeLessThan(16);
  expect(gunzipSync(Buffer.concat(made)).length).toBe(64 * MIB);
});

test("pieces that lie in one buffer, each in the place of the one before, are compressed as they were", async () => {
  const buffer = new Uint8Array(100_000);
  function* pieces(): Generator<Uint8Array> {
    for (let i = 0; i < 100; i++) yield buffer.fill(i);
  }
  const content = gunzipSync(Buffer.concat(await Array.fromAsync(compressedPieces(pieces(), "gzip"))));
  expect(content.every((byte, at) => byte === Math.floor(at / buffer.length))).toBe(true);
  expect(content.length).toBe(100 * buffer.length);
});

test("a body whose pieces take their time hands on what it has", async () => {
  let given = 0;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (; given < 50; given++) {
      yield new Uint8Array(10).fill(given);
      await wait(20);
    }
  }
  let ended: readonly [number, boolean] | null = null;
  const reader = streamPieces(pieces(), (...end) => (ended = end)).getReader();
  const { value } = await reader.read();
  expect(value![0]).toBe(0);
  expect(given).toBeLessThan(40);
  await reader.cancel();
  expect(ended).toEqual([value!.length, false]);
  expect(given).toBeLessThan(40);
});
