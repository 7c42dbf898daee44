import { Slots } from "../repository/slots.ts";
import type { PackDelivery } from "../repository/fetch-source.ts";
import type { PackPlan } from "../repository/pack-plan.ts";
import { PartWriter } from "../repository/part-writer.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import { errorText } from "./error-response.ts";
import type { FetchContext } from "./fetch-context.ts";
import { type CacheStatus, packBody, packBodyBytes, type PackFraming } from "./pack-response.ts";
import { resultResponse } from "./smart-http.ts";

/** Responses that an isolate stores at a time: each takes the memory of a part. */
const STORING = new Slots(2, 60_000);

/** Says a response's `CacheStatus`. */
const CACHE_HEADER = "Holdfast-Cache";

/** Answers a fetch whose pack is due.
 * @param preamble packets before the pack */
export async function deliverPack(
  pack: PackDelivery,
  preamble: Uint8Array,
  context: FetchContext,
  framing: PackFraming,
): Promise<Response> {
  if (pack.kind === "stored") return storedResponse(pack, context);
  if (pack.kind === "store") {
    const storing = storeResponse(pack, preamble, context, framing);
    // Others wait for it, whether or not this client stays.
    context.waitUntil(storing);
    const sizeBytes = await storing;
    if (sizeBytes !== null) {
      const { objectKey, plan } = pack;
      return storedResponse(
        { kind: "stored", cache: "shared", objectKey, sizeBytes, objectCount: plan.objectCount },
        context,
      );
    }
  }
  return respond(packBody(preamble, pack.plan, context, framing), "miss");
}

async function storedResponse(
  { objectKey, sizeBytes, objectCount, cache }: Extract<PackDelivery, { kind: "stored" }>,
  context: FetchContext,
): Promise<Response> {
  let body;
  try {
    body = await context.chunks.open(objectKey, 0, sizeBytes);
  } catch (error) {
    // The next one is made anew.
    await context.source.settleResponse(objectKey, null);
    throw error;
  }
  context.observe({ objects: objectCount, packBytes: sizeBytes, complete: true, peakBytes: 0, keptBytes: 0 }, cache);
  return respond(body, cache);
}

/** Makes a response and stores it. Never throws: what cannot be stored is served all the same.
 * @returns its size, null: it could not be stored */
async function storeResponse(
  { objectKey, plan }: { objectKey: string; plan: PackPlan },
  preamble: Uint8Array,
  context: FetchContext,
  framing: PackFraming,
): Promise<number | null> {
  const place = await STORING.take();
  let sizeBytes: number | null = null;
  try {
    const body = packBody(preamble, plan, { ...context, isKept: true }, framing);
    sizeBytes = await writeBody(context.chunks, objectKey, body, packBodyBytes(preamble, plan, framing));
  } catch (error) {
    errorText(error);
  } finally {
    place.free();
    await context.source.settleResponse(objectKey, sizeBytes);
  }
  return sizeBytes;
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
