import type { ChunkStore } from "../chunks/chunk-store.ts";
import { OpenRange } from "../chunks/open-range.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { Extent, PackPlan } from "./pack-plan.ts";
import { PIECE, PIECE_STRIDE, pieceExtent, pieceLength, pieceOffset, pieceOperation } from "./plan-rows.ts";

/** Size of one read from the store. The bytes pass through one buffer: the only stored bytes
 * that a response holds. */
export const WINDOW_BYTES = 512 * 1024;

/** Number of reads in flight besides the current one, which hide the store's latency. None of
 * their bytes is held here. */
export const READS_AHEAD = 3;

/** Largest gap between two pieces that is read and dropped, in bytes: cheaper than another read. */
const GAP_BYTES = 64 * 1024;

/** Number of a piece's first bytes that are in one window (or the whole piece, if shorter), if
 * its head is rewritten. A head thus never spans two windows. */
const HEAD_BYTES = 64;

const NOTHING = new Uint8Array(0);

/** Consecutive bytes of one piece of the plan. */
export interface Fragment {
  /** Row of the piece in `PackPlan.pieces`. */
  readonly piece: number;
  /** Whether these are the piece's first bytes. */
  readonly first: boolean;
  /** The bytes, valid until the next batch is requested. */
  readonly bytes: Uint8Array;
}

/** Pieces fetched by one read: neighbours in one R2 object. */
interface Run {
  /** Null: inline bytes, which need no read. */
  readonly key: string | null;
  /** Positions in the R2 object. */
  readonly start: number;
  end: number;
  /** Rows of `PackPlan.pieces`. */
  readonly firstPiece: number;
  endPiece: number;
}

/** Yields the stored bytes of a plan's pieces in order, one batch per window, while the next reads
 * are in flight. The caller rewrites heads. Ending the iteration ends the reads.
 * @param held counter to which the window is added
 * @throws GitError "storage-failed" when stored bytes are missing or short */
export async function* readPieces(
  plan: PackPlan,
  store: ChunkStore,
  held: HeldBytes,
): AsyncGenerator<Fragment[], void, void> {
  const runs = findRuns(plan);
  const window = new Window(held);
  /** Open runs; the first is the current one. */
  const open: { run: Run; range: OpenRange | null }[] = [];
  const openUpTo = (count: number): void => {
    while (open.length < count) {
      const { value: run } = runs.next();
      if (run === undefined) return;
      const range = run.key === null ? null : new OpenRange(store, run.key, run.start, run.end - run.start);
      open.push({ run, range });
    }
  };
  try {
    for (openUpTo(1); open.length > 0; open.shift(), openUpTo(1)) {
      const { run, range } = open[0]!;
      for await (const fragments of range === null ? [inlineFragments(plan, run)] : takeRun(plan, run, range, window)) {
        // Reads ahead only after the first bytes have arrived, because the client is waiting for
        // those.
        openUpTo(1 + READS_AHEAD);
        yield fragments;
      }
    }
  } finally {
    for (const { range } of open) await range?.cancel();
    window.release();
  }
}

/** Groups the plan's pieces into reads. */
function* findRuns(plan: PackPlan): Generator<Run> {
  let run: Run | null = null;
  for (let piece = 0; piece < plan.pieces.length / PIECE_STRIDE; piece++) {
    const extent = extentOf(plan, piece);
    const key = "bytes" in extent ? null : extent.key;
    const start = positionOf(plan, piece);
    const end = start + lengthOf(plan, piece);
    const gap = run === null || key === null ? 0 : start - run.end;
    if (run !== null && (run.key !== key || gap < 0 || gap > GAP_BYTES)) {
      yield run;
      run = null;
    }
    run ??= { key, start, end, firstPiece: piece, endPiece: piece };
    run.end = end;
    run.endPiece = piece + 1;
  }
  if (run !== null) yield run;
}

function inlineFragments(plan: PackPlan, { firstPiece, endPiece }: Run): Fragment[] {
  const fragments: Fragment[] = [];
  for (let piece = firstPiece; piece < endPiece; piece++) {
    const { bytes } = extentOf(plan, piece) as { readonly bytes: Uint8Array };
    const at = positionOf(plan, piece);
    fragments.push({ piece, first: true, bytes: bytes.subarray(at, at + lengthOf(plan, piece)) });
  }
  return fragments;
}

/** Reads a run window by window and cuts each into the pieces' fragments. */
async function* takeRun(
  plan: PackPlan,
  run: Run,
  range: OpenRange,
  window: Window,
): AsyncGenerator<Fragment[], void, void> {
  let piece = run.firstPiece;
  let skip = 0;
  /** The end of the last window, if it is an incomplete head. */
  let kept = NOTHING;
  for (let position = run.start; position < run.end;) {
    const start = position - kept.length;
    const bytes = await window.take(range, kept);
    position = start + bytes.length;
    kept = NOTHING;
    const fragments: Fragment[] = [];
    for (; piece < run.endPiece; piece++, skip = 0) {
      const from = positionOf(plan, piece) + skip - start;
      const left = lengthOf(plan, piece) - skip;
      const there = Math.min(left, bytes.length - from);
      if (there <= 0) break;
      if (skip === 0 && there < headBytesOf(plan, piece)) {
        kept = bytes.slice(from);
        break;
      }
      fragments.push({ piece, first: skip === 0, bytes: bytes.subarray(from, from + there) });
      if (there < left) {
        skip += there;
        break;
      }
    }
    yield fragments;
  }
}

/** The one buffer for stored bytes. */
class Window {
  readonly #held: HeldBytes;
  /** Space for the kept bytes, then for the read; allocated at the first read. */
  #buffer: ArrayBuffer | null = null;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  /** Reads a range's next bytes.
   * @param kept fewer than `HEAD_BYTES` bytes that precede them
   * @returns both, valid until the next call */
  async take(range: OpenRange, kept: Uint8Array): Promise<Uint8Array> {
    if (this.#buffer === null) {
      this.#buffer = new ArrayBuffer(HEAD_BYTES + WINDOW_BYTES);
      this.#held.add(this.#buffer.byteLength);
    }
    const { buffer, length } = await range.read(new Uint8Array(this.#buffer, HEAD_BYTES));
    this.#buffer = buffer;
    const bytes = new Uint8Array(buffer, HEAD_BYTES - kept.length, kept.length + length);
    bytes.set(kept);
    return bytes;
  }

  release(): void {
    this.#held.add(-(this.#buffer?.byteLength ?? 0));
    this.#buffer = null;
  }
}

/** Number of a piece's first bytes that must be in one fragment. */
function headBytesOf(plan: PackPlan, piece: number): number {
  return pieceOperation(plan.pieces, piece) === PIECE.verbatim ? 1 : Math.min(HEAD_BYTES, lengthOf(plan, piece));
}

/** Offset of a piece in its R2 object, or in the inline bytes. */
function positionOf(plan: PackPlan, piece: number): number {
  const extent = extentOf(plan, piece);
  return ("bytes" in extent ? 0 : extent.start) + pieceOffset(plan.pieces, piece);
}

function lengthOf(plan: PackPlan, piece: number): number {
  return pieceLength(plan.pieces, piece);
}

function extentOf(plan: PackPlan, piece: number): Extent {
  return plan.extents[pieceExtent(plan.pieces, piece)]!;
}
