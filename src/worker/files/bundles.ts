import { type BundleHeader, readBundleHeader } from "../../base/format/bundle.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { BundlePlan } from "../../contract/fetch.ts";
import { PacedBody } from "../../base/pacing/paced-body.ts";
import type { Reading } from "./blob-reader.ts";
import { streamPieces } from "../../base/bytes/piece-stream.ts";
import { HeldBytes } from "../../base/bytes/held-bytes.ts";
import { streamPack } from "../../base/bytes/pack-stream.ts";

/** A bundle that a client sends. */
interface BundleUpload {
  readonly header: BundleHeader;
  /** Everything after the header, as it arrives. */
  readonly pack: ReadableStream<Uint8Array>;
}

/** Reads a bundle's header and leaves the pack unread.
 * @param body a byte stream
 * @param limitBytes cap on the header
 * @throws GitError "invalid" when this is not a readable bundle, "too-large", and as
 * `PacedBody.read` */
export async function openBundle(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<BundleUpload> {
  const paced = new PacedBody(body);
  // The first piece has a thousand bytes unless the body is shorter, so any other content is
  // rejected at once.
  const { header, rest } = await readBundleHeader(() => paced.read(), limitBytes);
  const pack = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (rest.length > 0) controller.enqueue(rest);
    },
    pull: async (controller) => {
      const piece = await paced.read();
      if (piece === null) controller.close();
      else controller.enqueue(piece);
    },
    cancel: (reason) => paced.cancel(reason),
  });
  return { header, pack };
}

/** Streams the bundle of a plan, made as the client reads it. A failure ends the stream with an
 * error; the bytes sent so far lack the pack's trailer, so no client accepts them as a pack. */
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
