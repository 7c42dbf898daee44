import { encodeHeaders, type Header, HeaderReader } from "./header.ts";
import { encodeIdent, type Ident } from "./ident.ts";
import { isObjectType, type ObjectType } from "./object.ts";
import { type Oid, toHex } from "./oid.ts";

/** A parsed annotated tag. */
export interface Tag {
  readonly object: Oid;
  /** The type that the tag claims its object to have. */
  readonly type: ObjectType;
  /** Byte string. */
  readonly name: string;
  /** Null in tags older than this header. */
  readonly tagger: Ident | null;
  readonly extraHeaders: readonly Header[];
  /** Bytes, including the signature at their end, if there is one. */
  readonly message: Uint8Array;
}

/** Parses a tag's content. Accepts everything that passes git's fsck.
 * @throws GitError "corrupt-object" if object, type or name are missing or unreadable */
export function parseTag(content: Uint8Array): Tag {
  const headers = new HeaderReader("tag", content);
  const object = headers.toOid(headers.demand("object"));
  const type = headers.demand("type");
  if (!isObjectType(type)) throw headers.corrupt(`'${type}' is not an object type`);
  const name = headers.demand("tag");
  const tagger = headers.take("tagger");
  return {
    object,
    type,
    name,
    tagger: tagger === null ? null : headers.toIdent(tagger),
    extraHeaders: headers.rest(),
    message: headers.body,
  };
}

/** Encodes a tag's content.
 * @throws GitError "bad-request" if the tagger cannot be written */
export function encodeTag(tag: Tag): Uint8Array {
  return encodeHeaders(
    [
      { name: "object", value: toHex(tag.object) },
      { name: "type", value: tag.type },
      { name: "tag", value: tag.name },
      ...(tag.tagger === null ? [] : [{ name: "tagger", value: encodeIdent(tag.tagger) }]),
      ...tag.extraHeaders,
    ],
    tag.message,
  );
}
