// What holds a pack together: the trailer behind its entries, and where these end.
import { createHash } from "node:crypto";
import type { PackIndex } from "../../base/codec/pack-index.ts";
import { GitError } from "../../base/format/errors.ts";
import { toHex } from "../../base/format/oid.ts";
import { PACK_TRAILER_BYTES } from "../../base/format/pack.ts";
import type { PackSource } from "../state/push.ts";

/** Bytes of a pack that are requested at once: fewer and larger reads halve the cost of receiving a
 * body. */
export const READ_BYTES = 256 * 1024;

/** The hash of a pack, which its trailer must be. */
export class PackTrailer {
  readonly #hash = createHash("sha1");

  /** Takes in the next bytes of header and entries. */
  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  /** Compares the trailer.
   * @param rest what has been read behind the last entry
   * @param source reads on
   * @throws GitError "corrupt-pack" when it is another, missing, or followed by something */
  async check(rest: Uint8Array[], source: Pick<PackSource, "read" | "mayGoOn">): Promise<void> {
    let length = rest.reduce((sum, bytes) => sum + bytes.length, 0);
    const enoughBytes = PACK_TRAILER_BYTES + (source.mayGoOn === true ? 0 : 1);
    for (let more; length < enoughBytes && (more = await source.read(READ_BYTES)) !== null;) {
      rest.push(more);
      length += more.length;
    }
    const trailer = Buffer.concat(rest);
    const expected = this.#hash.digest();
    if (length < PACK_TRAILER_BYTES) throw new GitError("corrupt-pack", { reason: "its trailer is missing" });
    if (!trailer.subarray(0, PACK_TRAILER_BYTES).equals(expected)) {
      throw new GitError("corrupt-pack", {
        reason: `its trailer is ${toHex(trailer)}, its bytes hash to ${toHex(expected)}`,
      });
    }
    if (length > PACK_TRAILER_BYTES) throw new GitError("corrupt-pack", { reason: "bytes follow its trailer" });
  }
}

/** The first boundary in (from, to] among entry starts and the end of the last complete entry. */
export function findBoundary(
  entries: Pick<PackIndex, "count" | "end" | "offset">,
  from: number,
  to: number,
): number | null {
  let low = 0;
  const { count } = entries;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries.offset(middle) <= from) low = middle + 1;
    else high = middle;
  }
  const boundary = low < count ? entries.offset(low) : entries.end;
  return boundary > from && boundary <= to ? boundary : null;
}
