import { createHash, type Hash } from "node:crypto";
import { GitError } from "../format/errors.ts";
import { equalOids } from "../format/oid.ts";
import type { PackPlan } from "./pack-plan.ts";
import { PIECE, pieceExtent, pieceLength, pieceOffset, pieceOperation } from "./plan-rows.ts";
import type { Fragment } from "./pack-reads.ts";

/** Refuses bytes of a chunk that differ from the written ones.
 * @param actual SHA-1 of the bytes read
 * @throws GitError "storage-failed" */
export function checkChunk(key: string, checksum: Uint8Array, actual: Uint8Array): void {
  if (equalOids(actual, checksum)) return;
  throw new GitError("storage-failed", { key, damage: true, reason: "a chunk does not match its checksum" });
}

/** Verifies the chunks of a plan against their checksums as they stream by. Only chunks sent
 * whole and in one piece can be verified. */
export class StreamedChecksums {
  readonly #plan: PackPlan;
  #hash: Hash | null = null;
  #leftBytes = 0;

  constructor(plan: PackPlan) {
    this.#plan = plan;
  }

  /** Adds the next fragment in order.
   * @throws GitError "storage-failed" at the end of a chunk */
  take({ piece, first, bytes }: Fragment): void {
    const { pieces, extents } = this.#plan;
    const extent = extents[pieceExtent(pieces, piece)]!;
    if ("bytes" in extent || extent.checksum === undefined) return;
    const isWhole = pieceOffset(pieces, piece) === 0 && pieceLength(pieces, piece) === extent.length;
    if (!isWhole || pieceOperation(pieces, piece) !== PIECE.verbatim) return;
    if (first) {
      this.#hash = createHash("sha1");
      this.#leftBytes = extent.length;
    }
    this.#hash!.update(bytes);
    this.#leftBytes -= bytes.length;
    if (this.#leftBytes === 0) checkChunk(extent.key, extent.checksum, this.#hash!.digest());
  }
}
