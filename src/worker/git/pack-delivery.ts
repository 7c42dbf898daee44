import { encodeText, fromByteString } from "../../base/format/byte-string.ts";
import { GitError } from "../../base/format/errors.ts";
import { encodeSideBand, PROGRESS_BAND } from "../../base/format/side-band.ts";
import { Semaphore } from "../../base/pacing/semaphore.ts";
import { PACK_HEADER_BYTES, PACK_TRAILER_BYTES } from "../../base/format/pack.ts";
import type { PackDelivery, PlannedPack, StoredPack } from "../../contract/fetch.ts";
import { PartWriter } from "../../base/bytes/part-writer.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { logServerError } from "../../base/http/error-response.ts";
import type { FetchContext } from "./fetch-context.ts";
import { movedNotice } from "../../contract/push.ts";
import {
  type CacheStatus,
  failureBand,
  packBody,
  packBodyBytes,
  type PackFraming,
  type PackMaker,
} from "./pack-response.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** Maximum number of responses that an isolate stores at once: each takes the memory of one
 * multipart part. */
const STORING = new Semaphore(2, 60_000);

/** Delay before a response is stored, so that the requesting client gets its first bytes sooner. */
const STORE_AFTER_MS = 50;

/** Entry bytes, by `responseKey`, of packs made here with undeltified objects, whose size the plan
 * does not know. With a known length an R2 object is stored in one write, otherwise in one write
 * per part. The oldest entry is dropped first. */
const entriesBytesMade = new Map<string, number>();
const MAX_MADE = 512;

/** The header that carries a response's `CacheStatus`. */
const CACHE_HEADER = "Holdfast-Cache";

/** Answers a fetch whose pack is due. No response waits for another to be stored. Data for this
 * client alone follows the preamble and is never stored.
 * @param preamble packets before the pack */
export async function deliverPack(
  pack: PackDelivery,
  preamble: Uint8Array,
  context: FetchContext,
  framing: PackFraming,
): Promise<Response> {
  const notice = noticeBand(context, framing);
  const begun = notice.length === 0 ? preamble : Buffer.concat([preamble, notice]);
  const rest = { begun, fromByte: preamble.length };
  switch (pack.kind) {
    case "stored":
      if (notice.length === 0) return respond(await openStored(pack, 0, context), pack.cache);
      return respond(
        joinBody(rest, framing, context, (start) => openStored(pack, start, context)),
        pack.cache,
      );
    case "awaited":
      return respond(
        joinBody(rest, framing, context, (start) => openRest(pack.objectKey, start, context, framing)),
        "shared",
      );
    case "store":
      // Storing reads the bytes a second time at its own pace, so that a slow or disconnected
      // client does not delay the clients that wait for the stored response.
      context.waitUntil(storeResponse(pack, preamble, context, framing));
      break;
    case "plan":
      return respond(packBody(begun, pack.plan, noting(pack, context), framing), "miss");
  }
  return respond(packBody(begun, pack.plan, context, framing), "miss");
}

/** A notice of the new name for a client that uses a former one and wants progress; else empty. */
function noticeBand(context: FetchContext, { bandDataBytes, progress }: PackFraming): Uint8Array {
  const place = progress && bandDataBytes !== null ? context.movedTo() : null;
  if (place === null) return new Uint8Array(0);
  const message = fromByteString(encodeText(`${movedNotice(place)}\n`));
  return Buffer.concat([...encodeSideBand(PROGRESS_BAND, message, bandDataBytes!)]);
}

/** Wraps the maker to record the size of a pack that may be made again and stored. */
function noting({ plan, responseKey }: PlannedPack, context: FetchContext): PackMaker {
  if (responseKey === null || plan.entriesBytes >= 0) return context;
  return {
    ...context,
    observe(sent, cache) {
      context.observe(sent, cache);
      if (!sent.complete) return;
      entriesBytesMade.set(responseKey, sent.packBytes - PACK_HEADER_BYTES - PACK_TRAILER_BYTES);
      if (entriesBytesMade.size > MAX_MADE) entriesBytesMade.delete(entriesBytesMade.keys().next().value!);
    },
  };
}

/** Opens the body of a response in R2, from byte `start` on. */
async function openStored(
  { objectKey, sizeBytes, objectCount, cache }: StoredPack,
  start: number,
  context: FetchContext,
): Promise<ReadableStream<Uint8Array>> {
  let body;
  try {
    body = await context.chunks.open(objectKey, start, sizeBytes - start);
  } catch (error) {
    // The next request makes the response anew.
    await context.source.finishResponse(objectKey, null);
    throw error;
  }
  context.observe({ objects: objectCount, packBytes: sizeBytes, complete: true, peakBytes: 0, keptBytes: 0 }, cache);
  return body;
}

/** Joins the beginning of a response, which is ready, with the rest: the body starts at once and
 * continues when the rest is there.
 * @param open returns the rest, from a given byte of the stored response
 * @returns a stream through which no code runs per piece */
function joinBody(
  { begun: beginning, fromByte }: { readonly begun: Uint8Array; readonly fromByte: number },
  framing: PackFraming,
  context: FetchContext,
  open: (fromByte: number) => Promise<ReadableStream<Uint8Array>>,
): ReadableStream<Uint8Array> {
  const { readable, writable } = new IdentityTransformStream();
  const begun = write(writable, beginning);
  const fill = async (): Promise<void> => {
    let rest;
    try {
      rest = await open(fromByte);
    } catch (error) {
      const message = failureBand(error, framing);
      await begun;
      await write(writable, message);
      return writable.abort(error);
    }
    await begun;
    return rest.pipeTo(writable);
  };
  // Fails only when the client disconnects.
  context.waitUntil(Promise.all([begun, fill()]).catch(() => undefined));
  return readable;
}

/** Opens the rest of the response, once it is stored or storing it was given up. */
async function openRest(
  objectKey: string,
  preambleBytes: number,
  context: FetchContext,
  framing: PackFraming,
): Promise<ReadableStream<Uint8Array>> {
  const pack = await context.source.awaitResponse(objectKey);
  if (pack === null)
    throw new GitError("unavailable", { what: "the response", reason: "the request that was making it has ended" });
  return pack.kind === "stored"
    ? openStored(pack, preambleBytes, context)
    : packBody(new Uint8Array(0), pack.plan, context, framing);
}

/** Writes some bytes to a stream that stays open. */
async function write(writable: WritableStream<Uint8Array>, bytes: Uint8Array): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(bytes);
  writer.releaseLock();
}

/** Makes a response and stores it. If storing fails, the log and the repository are told, and the
 * response is still served. */
async function storeResponse(
  { objectKey, plan, responseKey }: PackDelivery & { readonly kind: "store" },
  preamble: Uint8Array,
  context: FetchContext,
  framing: PackFraming,
): Promise<void> {
  await new Promise((later) => setTimeout(later, STORE_AFTER_MS));
  const permit = await STORING.acquire();
  const entriesBytes = entriesBytesMade.get(responseKey) ?? plan.entriesBytes;
  // Used once: if the size was wrong, the next response is stored in parts.
  entriesBytesMade.delete(responseKey);
  let sizeBytes: number | null = null;
  try {
    const body = packBody(preamble, plan, { ...context, isKept: true }, framing);
    sizeBytes = await writeBody(
      context.chunks,
      objectKey,
      body,
      packBodyBytes(preamble, { ...plan, entriesBytes }, framing),
    );
  } catch (error) {
    logServerError(error);
  } finally {
    permit.release();
    await context.source.finishResponse(objectKey, sizeBytes);
  }
}

/** @returns bytes written */
async function writeBody(
  chunks: ChunkStore,
  objectKey: string,
  body: ReadableStream<Uint8Array>,
  sizeBytes: number | null,
): Promise<number> {
  if (sizeBytes !== null) {
    await chunks.putStream(objectKey, body, sizeBytes);
    return sizeBytes;
  }
  const writer = new PartWriter(chunks, objectKey);
  try {
    for await (const piece of body) await writer.add(piece);
    return (await writer.finish()).sizeBytes;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

function respond(body: ReadableStream<Uint8Array>, cache: CacheStatus): Response {
  return resultResponse("git-upload-pack", body, { [CACHE_HEADER]: cache });
}
