import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { BundlePlan } from "../../contract/fetch.ts";
import type { Reading } from "./reading.ts";
import { streamPieces } from "../../base/bytes/piece-stream.ts";
import { HeldBytes } from "../../base/bytes/held-bytes.ts";
import { streamPack } from "../../base/bytes/pack-stream.ts";

/** The bundle of a plan, made as the client reads it. A failure ends the stream with an error; the
 * bytes sent so far lack the pack's trailer, so no client accepts them as a pack. */
export function streamBundle({ header, plan }: BundlePlan, reading: Reading): ReadableStream<Uint8Array> {
  const operations = newChunkCounters();
  const held = new HeldBytes();
  async function* pieces(): AsyncGenerator<Uint8Array, void, void> {
    yield header;
    for await (const slices of streamPack(plan, reading.openChunks(operations), reading.codec, held)) yield* slices;
  }
  return streamPieces(pieces(), (sentBytes, complete) => {
    const { peakBytes } = held;
    reading.observe({ event: "backup", objects: plan.objectCount, sentBytes, complete, peakBytes, operations });
  });
}
