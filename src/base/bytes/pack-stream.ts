import { createHash } from "node:crypto";
import { OID_BYTES } from "../format/oid.ts";
import { encodeEntryHeader, encodePackHeader } from "../format/pack.ts";
import type { ChunkStore } from "../chunks/chunk-store.ts";
import { StreamedChecksums } from "./chunk-checksum.ts";
import { ByteCache } from "./byte-cache.ts";
import { ISOLATE_MEMORY } from "../pacing/memory-budget.ts";
import { DeltaChains, type DeltaCodec, sharedBytes } from "./delta-chains.ts";
import { decodeEntryHead, encodeOfsHead, encodeRefHead } from "./entry-head.ts";
import { HeldBytes } from "./held-bytes.ts";
import { type PackPlan, planSizeBytes } from "./pack-plan.ts";
import { PIECE, pieceArgument, pieceOperation } from "./plan-rows.ts";
import { type Fragment, readPieces } from "./pack-reads.ts";

/** Cache of undeltified entries for the isolate. Deflating them is most of the cost of a shallow
 * clone, and the next clone, of the same commit or a neighbour, needs nearly the same. */
const EXPANDED = new ByteCache<Uint8Array>(8 * 1024 * 1024, ISOLATE_MEMORY);

/** Plan size from which memory is reserved (bytes), and the time that the response waits for it
 * (ms). */
const FREE_PLAN_BYTES = 4 * 1024 * 1024;
const PLAN_WAIT_MS = 60_000;

/** Bytes that an isolate caches for all packs, besides those that each pack holds. */
export function keptBytes(codec: DeltaCodec): number {
  return sharedBytes() + EXPANDED.sizeBytes + codec.memoryBytes;
}

/** A pack that was sent: sizes in bytes. */
export interface SentPack {
  readonly objects: number;
  /** Bytes that reached the client. */
  readonly packBytes: number;
  /** Whether the client received the whole pack: it may disconnect, and a read may fail. */
  readonly complete: boolean;
  /** Peak of the plan and the buffers of this pack alone. */
  readonly peakBytes: number;
  /** The isolate's module memory and caches for all packs, measured at the end. */
  readonly keptBytes: number;
}

/** Streams the pack that a plan describes (header, entries, SHA-1 trailer) in batches of slices,
 * which are overwritten when the next batch is requested. Pull-driven: ending the iteration ends
 * the reads in flight.
 * @param held counter to which the memory is added, the plan included
 * @param isKept whether the pack is stored and served to others: then chunks sent whole are
 *   verified against their checksums. A client that gets its own pack verifies each object by its
 *   id
 * @throws GitError "storage-failed" when stored bytes are missing; the pack then lacks its
 *   trailer, so no client accepts it; "unavailable" when other requests hold the memory for a
 *   large plan
 * @see gitformat-pack(5) */
export async function* streamPack(
  plan: PackPlan,
  store: ChunkStore,
  codec: DeltaCodec,
  held = new HeldBytes(),
  isKept = false,
): AsyncGenerator<Uint8Array[], void, void> {
  const hash = createHash("sha1");
  const hashed = (slices: Uint8Array[]): Uint8Array[] => {
    for (const slice of slices) hash.update(slice);
    return slices;
  };
  const planBytes = planSizeBytes(plan);
  held.add(planBytes);
  const lease = planBytes > FREE_PLAN_BYTES ? await ISOLATE_MEMORY.take(planBytes, PLAN_WAIT_MS) : null;
  try {
    const checksums = isKept ? new StreamedChecksums(plan) : null;
    yield hashed([encodePackHeader(plan.objectCount)]);
    const chains = new DeltaChains(plan, store, codec);
    for (const row of plan.undeltified) {
      const entry = await undeltify(chains, row, codec);
      held.add(entry.length);
      yield hashed([entry]);
      held.add(-entry.length);
    }
    for await (const fragments of readPieces(plan, store, held)) {
      lease?.renew();
      for (const fragment of fragments) checksums?.take(fragment);
      yield hashed(fragments.flatMap((fragment) => sliceFragment(plan, fragment)));
    }
    yield [new Uint8Array(hash.digest())];
  } finally {
    lease?.free();
  }
}

/** Makes the entry of a whole object from a stored delta. */
async function undeltify(chains: DeltaChains, row: number, codec: DeltaCodec): Promise<Uint8Array> {
  const name = chains.name(row);
  const known = EXPANDED.get(name);
  if (known !== undefined) return known;
  const { type, bytes } = await chains.resolve(row);
  const header = encodeEntryHeader(type, bytes.length);
  const deflated = codec.deflate(bytes);
  const entry = new Uint8Array(header.length + deflated.length);
  entry.set(header);
  entry.set(deflated, header.length);
  EXPANDED.set(name, entry, entry.length);
  return entry;
}

/** Slices to send for a fragment: its bytes, or a new head followed by the bytes after the old
 * one. */
function sliceFragment(plan: PackPlan, { piece, first, bytes }: Fragment): Uint8Array[] {
  const operation = pieceOperation(plan.pieces, piece);
  if (operation === PIECE.verbatim || !first) return [bytes];
  const argument = pieceArgument(plan.pieces, piece);
  const { sizeBytes, dataOffset } = decodeEntryHead(bytes);
  const head =
    operation === PIECE.ofsDelta
      ? encodeOfsHead(sizeBytes, argument)
      : encodeRefHead(sizeBytes, plan.bases.subarray(argument * OID_BYTES, (argument + 1) * OID_BYTES));
  return [head, bytes.subarray(dataOffset)];
}
