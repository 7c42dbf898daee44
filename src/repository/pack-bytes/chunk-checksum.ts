import { createHash, type Hash } from "node:crypto";
import { GitError } from "../../format/errors.ts";
import { equalOids } from "../../format/oid.ts";
import { PIECE, PIECE_STRIDE, type PackPlan } from "../pack/pack-plan.ts";
import type { Fragment } from "./pack-reads.ts";

/** Refuses bytes of a chunk that differ from those written.
 * @param actual SHA-1 of the bytes read
 * @throws GitError "storage-failed" */
export function checkChunk(key: string, checksum: Uint8Array, actual: Uint8Array): void {
  if (equalOids(actual, checksum)) return;
  throw new GitError("storage-failed", { key, reason: "a chunk does not match its checksum" });
}

/** Verifies the chunks of a plan against their checksums as they stream by. Only chunks sent whole
 * and in one piece can be verified. */
export class StreamedChecksums {
  readonly #plan: PackPlan;
  #hash: Hash | null = null;
  #leftBytes = 0;

  constructor(plan: PackPlan) {
    this.#plan = plan;
  }

  /** Takes the fragments in order.
   * @throws GitError "storage-failed" at a chunk's end */
  take({ piece, first, bytes }: Fragment): void {
    const [operation, index, offset, length] = this.#plan.pieces.subarray(piece * PIECE_STRIDE);
    const extent = this.#plan.extents[index!]!;
    if ("bytes" in extent || extent.checksum === undefined) return;
    if (operation !== PIECE.verbatim || offset !== 0 || length !== extent.length) return;
    if (first) {
      this.#hash = createHash("sha1");
      this.#leftBytes = extent.length;
    }
    this.#hash!.update(bytes);
    this.#leftBytes -= bytes.length;
    if (this.#leftBytes === 0) checkChunk(extent.key, extent.checksum, this.#hash!.digest());
  }
}
