import { createHash } from "node:crypto";
import type { Codec } from "../../codec/codec.ts";
import { encodeDelta } from "../../format/delta.ts";
import { encodeEntryHeader, encodePackHeader, REF_DELTA } from "../../format/pack.ts";
import type { PackSource } from "../push.ts";
import type { NewObject } from "./new-objects.ts";

/** Bytes from which an object is sent as a delta, if it has an origin. Ids do not deflate, so a tree of a few entries is larger than
 * the delta already; but its every reader would have to read the one that it was made from, too. */
const DELTA_FROM_BYTES = 1024;

/** Effort of deflate for contents; deltas are not worth any. */
const CONTENT_LEVEL = 6;
const DELTA_LEVEL = 1;

/** Encodes new objects as a thin pack, as a client would send them.
 * @see gitformat-pack(5) */
export function encodeNewPack(codec: Codec, objects: readonly NewObject[]): Uint8Array {
  const parts = [encodePackHeader(objects.length)];
  for (const object of objects) for (const part of encodeEntry(codec, object)) parts.push(part);
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return Buffer.concat([...parts, hash.digest()]);
}

/** A pack that lies in memory, to be received. */
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
  if (origin === null || content.length < DELTA_FROM_BYTES)
    return [codec.encodeObject(type, content, CONTENT_LEVEL).entry];
  const delta = encodeDelta(origin.content.length, origin.pieces);
  return [encodeEntryHeader(REF_DELTA, delta.length), origin.oid, codec.deflate(delta, DELTA_LEVEL)];
}
