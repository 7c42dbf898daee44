import { GitError } from "../format/errors.ts";
import { OID_BYTES, toHex } from "../format/oid.ts";
import type { CodecInstance } from "./module.ts";

/** Bytes copied into the module at a time. */
const PIECE_BYTES = 64 * 1024;

/** SHA-1 with collision detection of bytes that arrive in pieces. */
export class Sha1Stream {
  readonly #instance: CodecInstance;
  readonly #hash: number;
  readonly #piece: number;

  /** @param instance of its own: its memory is freed with the stream */
  constructor(instance: CodecInstance) {
    this.#instance = instance;
    this.#hash = instance.exports.sha1_begin();
    this.#piece = instance.take(PIECE_BYTES);
  }

  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#instance.bytes(this.#piece, piece.length).set(piece);
      this.#instance.exports.sha1_update(this.#hash, this.#piece, piece.length);
    }
  }

  /** Ends the stream.
   * @throws GitError "sha1-collision" on a collision attack */
  digest(): Uint8Array {
    const collided = this.#instance.exports.sha1_final(this.#hash, this.#piece) !== 0;
    const oid = this.#instance.bytes(this.#piece, OID_BYTES).slice();
    if (collided) throw new GitError("sha1-collision", { oid: toHex(oid) });
    return oid;
  }
}
