import { createHash } from "node:crypto";
import type { Codec } from "../../base/codec/codec.ts";
import { encodeDelta } from "../../base/format/delta.ts";
import { toTypeNumber } from "../../base/format/object.ts";
import { encodeEntryHeader, encodePackHeader, PACK_HEADER_BYTES, REF_DELTA } from "../../base/format/pack.ts";
import type { PackSource } from "../state/push.ts";
import type { NewObject } from "./new-objects.ts";

/** An object of this size is sent as a delta, if it has an origin. Ids do not deflate, so the delta
 * is smaller even for a tree of a few entries; but then each reader must read the origin, too. */
const DELTA_FROM_BYTES = 1024;

/** Deflate levels for contents, and for deltas, which are not worth much effort. */
const CONTENT_LEVEL = 6;
const DELTA_LEVEL = 1;

/** A thin pack of new objects, as a client would send them.
 * @see gitformat-pack(5) */
export class NewPack {
  readonly #codec: Codec;
  readonly #parts: Uint8Array[] = [];
  #count = 0;
  #end = PACK_HEADER_BYTES;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  /** The end of its entries in the pack (bytes). */
  get end(): number {
    return this.#end;
  }

  /** Adds objects. An object follows those that it refers to, unless they are stored. */
  add(objects: readonly NewObject[]): void {
    for (const object of objects) {
      for (const part of encodeEntry(this.#codec, object)) {
        this.#parts.push(part);
        this.#end += part.length;
      }
    }
    this.#count += objects.length;
  }

  /** The whole pack. */
  finish(): Uint8Array {
    const parts = [encodePackHeader(this.#count), ...this.#parts];
    const hash = createHash("sha1");
    for (const part of parts) hash.update(part);
    return Buffer.concat([...parts, hash.digest()]);
  }
}

/** Encodes new objects as a pack of their own. */
export function encodeNewPack(codec: Codec, objects: readonly NewObject[]): Uint8Array {
  const pack = new NewPack(codec);
  pack.add(objects);
  return pack.finish();
}

/** A pack in memory, as a source for a push. */
export function packInMemory(pack: Uint8Array): PackSource {
  let rest: Uint8Array | null = pack;
  return {
    read: async () => {
      const piece = rest;
      rest = null;
      return piece;
    },
  };
}

function encodeEntry(codec: Codec, { type, content, origin }: NewObject): Uint8Array[] {
  // The id is known already: the indexer hashes the content once more, to prove it.
  if (origin === null || content.length < DELTA_FROM_BYTES)
    return [encodeEntryHeader(toTypeNumber(type), content.length), codec.deflate(content, CONTENT_LEVEL)];
  const delta = encodeDelta(origin.content.length, origin.pieces);
  return [encodeEntryHeader(REF_DELTA, delta.length), origin.oid, codec.deflate(delta, DELTA_LEVEL)];
}
