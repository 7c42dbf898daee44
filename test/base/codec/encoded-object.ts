import type { Codec, DeflateLevel } from "../../../src/base/codec/codec.ts";
import { type ObjectType, toTypeNumber } from "../../../src/base/format/object.ts";
import { encodeEntryHeader } from "../../../src/base/format/pack.ts";

/** An object's id, and its pack entry as the server makes it for new objects. */
export function encodeObject(
  codec: Codec,
  type: ObjectType,
  content: Uint8Array,
  level?: DeflateLevel,
): { oid: Uint8Array; entry: Uint8Array } {
  const [oid] = codec.hashObjects([{ type, content }]);
  const entry = Buffer.concat([encodeEntryHeader(toTypeNumber(type), content.length), codec.deflate(content, level)]);
  return { oid: oid!, entry: new Uint8Array(entry) };
}
