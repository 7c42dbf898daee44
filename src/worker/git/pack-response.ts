import { encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from "../../base/format/pack.ts";
import { FLUSH_PKT, PKT_HEADER_BYTES } from "../../base/format/pkt-line.ts";
import {
  encodeSideBand,
  ERROR_BAND,
  FRAME_BUFFER_BYTES,
  PACK_BAND,
  PROGRESS_BAND,
  SideBandFramer,
} from "../../base/format/side-band.ts";
import type { DeltaCodec } from "../../base/bytes/delta-chains.ts";
import { HeldBytes } from "../../base/bytes/held-bytes.ts";
import type { PackPlan } from "../../base/bytes/pack-plan.ts";
import { keptBytes, type SentPack, streamPack } from "../../base/bytes/pack-stream.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { errorText } from "../../base/http/error-response.ts";

/** Makes packs from plans. */
export interface PackMaker {
  readonly chunks: ChunkStore;
  readonly codec: DeltaCodec;
  /** Whether the pack is kept and served to other requests. @see streamPack */
  readonly isKept?: boolean;
  /** Records a pack that was sent or broken off.
   * @param cache source of its bytes, see `deliverPack` */
  observe(sent: SentPack, cache: CacheStatus): void;
}

/** Whether a response was made for its own request (`miss`), shared with an equal request that was
 * being stored (`shared`), or read from storage (`hit`). */
export type CacheStatus = "miss" | "shared" | "hit";

/** Framing of a pack in the response. */
export interface PackFraming {
  /** Data bytes per side-band packet; null for a client without side-band. */
  readonly bandDataBytes: number | null;
  /** Whether progress messages go on band 2. */
  readonly progress: boolean;
}

/** The response from the pack on, made as the client reads it. A failure is reported on band 3 and
 * then ends the body with an error, never with a truncated pack.
 * @param preamble packets before the pack */
export function packBody(
  preamble: Uint8Array,
  plan: PackPlan,
  maker: PackMaker,
  framing: PackFraming,
): ReadableStream<Uint8Array> {
  const { bandDataBytes } = framing;
  const pack = observedPack(plan, maker);
  const parts =
    bandDataBytes === null
      ? barePack(preamble, pack)
      : bandedPack(preamble, plan, pack, bandDataBytes, framing.progress);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await parts.next();
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await parts.return();
      },
    },
    // Nothing is made before it is read: an error must not overtake its own message.
    { highWaterMark: 0 },
  );
}

/** Size of the body that `packBody` makes (bytes); null: unknown in advance. */
export function packBodyBytes(
  preamble: Uint8Array,
  plan: PackPlan,
  { bandDataBytes, progress }: PackFraming,
): number | null {
  if (plan.entriesBytes < 0) return null;
  const packBytes = PACK_HEADER_BYTES + plan.entriesBytes + PACK_TRAILER_BYTES;
  if (bandDataBytes === null) return preamble.length + packBytes;
  const framed = (bytes: number): number => bytes + Math.ceil(bytes / bandDataBytes) * (PKT_HEADER_BYTES + 1);
  const said = progress ? framed(beginning(plan).length) + framed(totals(plan).length) : 0;
  return preamble.length + said + framed(packBytes) + FLUSH_PKT.length;
}

/** Yields the pack of a plan, and reports it to `observe`, however it ends. */
async function* observedPack(plan: PackPlan, maker: PackMaker): AsyncGenerator<Uint8Array[], void, void> {
  const held = new HeldBytes();
  // Two buffers, one being filled and one being sent, framed or not.
  held.add(2 * FRAME_BUFFER_BYTES);
  let packBytes = 0;
  let complete = false;
  try {
    for await (const slices of streamPack(plan, maker.chunks, maker.codec, held, maker.isKept)) {
      yield slices;
      for (const { length } of slices) packBytes += length;
    }
    complete = true;
  } finally {
    const { peakBytes } = held;
    const kept = keptBytes(maker.codec);
    maker.observe({ objects: plan.objectCount, packBytes, complete, peakBytes, keptBytes: kept }, "miss");
  }
}

/** Encodes a failure in the middle of a response; empty without side-band. */
export function failureBand(error: unknown, { bandDataBytes }: PackFraming): Uint8Array {
  const message = fromByteString(encodeText(`${errorText(error)}\n`));
  return bandDataBytes === null
    ? new Uint8Array(0)
    : Buffer.concat([...encodeSideBand(ERROR_BAND, message, bandDataBytes)]);
}

async function* bandedPack(
  preamble: Uint8Array,
  plan: PackPlan,
  pack: AsyncIterable<Uint8Array[]>,
  dataBytes: number,
  progress: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  yield preamble;
  if (progress) yield* encodeSideBand(PROGRESS_BAND, fromByteString(beginning(plan)), dataBytes);
  const framer = new SideBandFramer(PACK_BAND, dataBytes);
  try {
    for await (const slices of pack) {
      for (const slice of slices) yield* framer.frame(slice);
    }
  } catch (error) {
    yield failureBand(error, { bandDataBytes: dataBytes, progress });
    throw error;
  }
  const rest = framer.flush();
  if (rest !== null) yield rest;
  if (progress) yield* encodeSideBand(PROGRESS_BAND, fromByteString(totals(plan)), dataBytes);
  yield FLUSH_PKT;
}

async function* barePack(
  preamble: Uint8Array,
  pack: AsyncIterable<Uint8Array[]>,
): AsyncGenerator<Uint8Array, void, void> {
  yield preamble;
  let buffer = new Uint8Array(FRAME_BUFFER_BYTES);
  let end = 0;
  for await (const slices of pack) {
    for (const slice of slices) {
      for (let at = 0; at < slice.length;) {
        const taken = Math.min(slice.length - at, buffer.length - end);
        buffer.set(slice.subarray(at, at + taken), end);
        at += taken;
        end += taken;
        if (end < buffer.length) continue;
        yield buffer;
        buffer = new Uint8Array(FRAME_BUFFER_BYTES);
        end = 0;
      }
    }
  }
  if (end > 0) yield buffer.subarray(0, end);
}

function beginning({ objectCount }: PackPlan): string {
  return `Enumerating objects: ${objectCount}, done.\n`;
}

function totals({ objectCount, undeltified }: PackPlan): string {
  return `Total ${objectCount}, reused as stored ${objectCount - undeltified.length}\n`;
}
