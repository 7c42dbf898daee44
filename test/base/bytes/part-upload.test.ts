import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { storePart } from "../../../src/base/bytes/part-upload.ts";

const MIB = 1024 * 1024;

/** Pieces of a body are read of up to 256 KiB: one is held until the next has come, two are
 * given. */
const MAX_ALIVE_BYTES = 1 * MIB;

test("pieces of a body are freed as they are stored", async () => {
  const sent = randomBytes(8 * MIB);
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(new Uint8Array(sent));
      controller.close();
    },
  });
  const part = { sizeBytes: sent.length, checksum: createHash("sha256").update(sent).digest("hex") };
  const stored: Uint8Array[] = [];
  const given: ArrayBufferLike[] = [];
  let mostBytes = 0;
  const put = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    for await (const piece of stream) {
      stored.push(piece.slice());
      given.push(piece.buffer);
      mostBytes = Math.max(
        mostBytes,
        given.reduce((sum, { byteLength }) => sum + byteLength, 0),
      );
    }
  };
  await storePart(put, body, part);
  expect(Buffer.concat(stored).equals(sent)).toBe(true);
  expect(given.length).toBeGreaterThan(30);
  expect(mostBytes).toBeLessThanOrEqual(MAX_ALIVE_BYTES);
});
