import type { ChunkStore } from "../store/chunk-store.ts";
import type { HeldBytes } from "./held-bytes.ts";
import { type Extent, PIECE, PIECE_STRIDE, type PackPlan } from "./pack-plan.ts";

/** Largest ranged read of a chunk store, bytes. */
export const READ_BYTES = 4 * 1024 * 1024;

/** Reads under way beside the one being sent. Together with `READ_BYTES` this bounds the memory of a response. */
export const READS_AHEAD = 3;

/** Bytes between two pieces that are read and dropped rather than paid for with another read. */
const GAP_BYTES = 64 * 1024;

/** A re-headed delta begins with at least this many bytes in one read (or lies whole in it): its header never straddles two. */
const HEAD_BYTES = 64;

/** Consecutive bytes of one piece of the plan. */
export interface Fragment {
  /** Row of the piece in `PackPlan.pieces`. */
  readonly piece: number;
  /** Whether these are the piece's first bytes. */
  readonly first: boolean;
  readonly bytes: Uint8Array;
}

/** One read of the store (or a view of inline bytes) and the fragments cut from it. */
interface Block {
  /** Null when every fragment is inline. */
  readonly key: string | null;
  /** Position in the R2 object, bytes. */
  start: number;
  length: number;
  /** Triples: piece, offset in the piece, length. */
  readonly cuts: number[];
}

/** Yields the stored bytes of a plan's pieces in order, one batch per read, reading ahead; re-heading is the caller's business.
 * Ending the iteration early starts no further read.
 * @param held counts the reads under way and the batch being sent
 * @throws GitError "storage-failed" when stored bytes are missing or short */
export async function* readPieces(
  plan: PackPlan,
  store: ChunkStore,
  held: HeldBytes,
): AsyncGenerator<Fragment[], void, void> {
  const blocks = cutBlocks(plan);
  const ahead: { block: Block; bytes: Promise<Uint8Array | null> }[] = [];
  for (;;) {
    while (ahead.length <= READS_AHEAD) {
      const { value: block } = blocks.next();
      if (block === undefined) break;
      const bytes = block.key === null ? Promise.resolve(null) : store.read(block.key, block.start, block.length);
      held.add(sizeInMemory(block));
      // The failure is met when its turn comes; until then it must not count as unhandled.
      bytes.catch(() => undefined);
      ahead.push({ block, bytes });
    }
    const next = ahead.shift();
    if (next === undefined) return;
    yield cutFragments(plan, next.block, await next.bytes);
    held.add(-sizeInMemory(next.block));
  }
}

/** Inline bytes are the plan's, whoever looks at them. */
function sizeInMemory({ key, length }: Block): number {
  return key === null ? 0 : length;
}

function cutFragments(plan: PackPlan, block: Block, read: Uint8Array | null): Fragment[] {
  const fragments: Fragment[] = [];
  for (let i = 0; i < block.cuts.length; i += 3) {
    const piece = block.cuts[i]!;
    const skip = block.cuts[i + 1]!;
    const extent = extentOf(plan, piece);
    const from = "bytes" in extent ? extent.bytes : read!;
    const at = positionOf(extent) + pieceWord(plan, piece, 2) + skip - (read === null ? 0 : block.start);
    fragments.push({ piece, first: skip === 0, bytes: from.subarray(at, at + block.cuts[i + 2]!) });
  }
  return fragments;
}

/** Groups the plan's pieces into reads: neighbours in one R2 object share a read, pieces above `READ_BYTES` take several. */
function* cutBlocks(plan: PackPlan): Generator<Block> {
  let block: Block | null = null;
  for (let piece = 0; piece < plan.pieces.length / PIECE_STRIDE; piece++) {
    const extent = extentOf(plan, piece);
    const key = "bytes" in extent ? null : extent.key;
    const start = positionOf(extent) + pieceWord(plan, piece, 2);
    const pieceBytes = pieceWord(plan, piece, 3);
    const whole = pieceWord(plan, piece, 0) === PIECE.verbatim ? 1 : Math.min(HEAD_BYTES, pieceBytes);
    for (let skip = 0; skip < pieceBytes;) {
      const need = skip === 0 ? whole : 1;
      if (block !== null && !fits(block, key, start + skip, need)) {
        yield block;
        block = null;
      }
      block ??= { key, start: start + skip, length: 0, cuts: [] };
      const taken: number = Math.min(pieceBytes - skip, block.start + READ_BYTES - (start + skip));
      block.cuts.push(piece, skip, taken);
      block.length = start + skip + taken - block.start;
      skip += taken;
    }
  }
  if (block !== null) yield block;
}

function fits(block: Block, key: string | null, start: number, need: number): boolean {
  const gap = start - (block.start + block.length);
  return block.key === key && gap >= 0 && gap <= GAP_BYTES && start + need <= block.start + READ_BYTES;
}

function positionOf(extent: Extent): number {
  return "bytes" in extent ? 0 : extent.start;
}

function extentOf(plan: PackPlan, piece: number): Extent {
  return plan.extents[pieceWord(plan, piece, 1)]!;
}

function pieceWord(plan: PackPlan, piece: number, word: number): number {
  return plan.pieces[piece * PIECE_STRIDE + word]!;
}
