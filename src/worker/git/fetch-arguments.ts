import { fromHex, isHexOid, OID_BYTES } from "../../base/format/oid.ts";
import type { Refusal } from "./request-lines.ts";

/** Passes a command's arguments to `accept`, line by line, until the flush packet or the first
 * refusal.
 * @throws GitError "bad-request" when the request is badly framed */
export type ReadArguments = (accept: (line: string) => Refusal) => Promise<Refusal>;

/** Object ids from `want` or `have` lines, packed. */
export class OidList {
  readonly #limit: number;
  #bytes = new Uint8Array(16 * OID_BYTES);
  #count = 0;

  /** @param limit maximum number of ids */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  /** Copies the packed ids into a buffer of their own: structured cloning copies a whole buffer. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#count * OID_BYTES);
  }

  add(hex: string): Refusal {
    if (!isHexOid(hex)) return `upload-pack: expected an object id, got '${hex}'`;
    if (this.#count === this.#limit) return `upload-pack: more than ${this.#limit} object ids`;
    const at = this.#count * OID_BYTES;
    if (at === this.#bytes.length) {
      const grown = new Uint8Array(at * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(fromHex(hex), at);
    this.#count++;
    return null;
  }
}
