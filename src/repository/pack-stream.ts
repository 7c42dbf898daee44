import { createHash } from "node:crypto";
import { OID_BYTES } from "../format/oid.ts";
import { encodeEntryHeader, encodePackHeader } from "../format/pack.ts";
import type { ChunkStore } from "../store/chunk-store.ts";
import { DeltaChains, type DeltaCodec } from "./delta-chains.ts";
import { decodeEntryHead, encodeOfsHead, encodeRefHead } from "./entry-head.ts";
import { HeldBytes } from "./held-bytes.ts";
import { PIECE, PIECE_STRIDE, type PackPlan, planSizeBytes } from "./pack-plan.ts";
import { type Fragment, readPieces } from "./pack-reads.ts";

/** A pack that was sent: sizes in bytes. */
export interface SentPack {
  readonly objects: number;
  /** What the client took. */
  readonly packBytes: number;
  /** Whether that is the whole pack: a client may leave, and a read may fail. */
  readonly complete: boolean;
  /** Largest sum of module memory and buffers. */
  readonly peakBytes: number;
}

/** Streams the pack that a plan describes (header, entries, SHA-1 trailer) in batches of slices. Pull-driven: no more than
 * `READS_AHEAD` reads are under way besides the batch being sent, and ending the iteration starts no other.
 * @param held counts what that takes, plan and codec included
 * @throws GitError "storage-failed" when stored bytes are missing; what was sent has no trailer then and passes for no pack
 * @see gitformat-pack(5) */
export async function* streamPack(
  plan: PackPlan,
  store: ChunkStore,
  codec: DeltaCodec,
  held = new HeldBytes(),
): AsyncGenerator<Uint8Array[], void, void> {
  const hash = createHash("sha1");
  const hashed = (slices: Uint8Array[]): Uint8Array[] => {
    for (const slice of slices) hash.update(slice);
    return slices;
  };
  held.add(planSizeBytes(plan));
  yield hashed([encodePackHeader(plan.objectCount)]);
  for await (const fragments of readPieces(plan, store, held)) {
    yield hashed(fragments.flatMap((fragment) => sliceFragment(plan, fragment)));
  }
  const chains = new DeltaChains(plan, store, codec);
  for (const link of plan.expansions) {
    const { type, bytes } = await chains.resolve(link);
    const deflated = codec.deflate(bytes);
    const heldBytes = chains.memoryBytes + codec.memoryBytes + deflated.length;
    held.add(heldBytes);
    yield hashed([encodeEntryHeader(type, bytes.length), deflated]);
    held.add(-heldBytes);
  }
  yield [new Uint8Array(hash.digest())];
}

/** What is sent of a fragment: it as it is, or a new head and what followed the old one. */
function sliceFragment(plan: PackPlan, { piece, first, bytes }: Fragment): Uint8Array[] {
  const at = piece * PIECE_STRIDE;
  const operation = plan.pieces[at];
  if (operation === PIECE.verbatim || !first) return [bytes];
  const argument = plan.pieces[at + 4]!;
  const { sizeBytes, dataOffset } = decodeEntryHead(bytes);
  const head =
    operation === PIECE.ofsDelta
      ? encodeOfsHead(sizeBytes, argument)
      : encodeRefHead(sizeBytes, plan.bases.subarray(argument * OID_BYTES, (argument + 1) * OID_BYTES));
  return [head, bytes.subarray(dataOffset)];
}
