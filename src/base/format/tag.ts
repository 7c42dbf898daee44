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
  /** Message bytes, including a signature at the end. */
  readonly message: Uint8Array;
}

/** The fields that a tag's first bytes contain. */
export interface TagHead extends Pick<Tag, "object" | "type" | "name" | "extraHeaders"> {
  /** Null also if the tagger is not within these bytes. */
  readonly tagger: Ident | null;
  /** The message as far as it is within these bytes; null: it begins behind them. */
  readonly message: Uint8Array | null;
}

/** Parses a tag's content. Accepts everything that passes git's fsck.
 * @throws GitError "corrupt-object" if object, type or name are missing or unreadable */
export function parseTag(content: Uint8Array): Tag {
  const { message, ...head } = parseTagHead(content, true);
  return { ...head, message: message! };
}

/** Parses the first bytes of a tag.
 * @param content at least the tag's object and type
 * @param isWhole whether `content` is the whole tag
 * @throws GitError as `parseTag` */
export function parseTagHead(content: Uint8Array, isWhole: boolean): TagHead {
  const headers = new HeaderReader("tag", content, isWhole);
  const object = headers.toOid(headers.demand("object"));
  const type = headers.demand("type");
  if (!isObjectType(type)) throw headers.corrupt(`'${type.slice(0, 20)}' is not an object type`);
  const name = headers.isOpen ? headers.take("tag") : headers.demand("tag");
  const tagger = headers.take("tagger");
  return {
    object,
    type,
    name: name ?? "",
    tagger: tagger === null ? null : headers.toIdent(tagger),
    extraHeaders: headers.rest(),
    message: headers.isOpen ? null : headers.body,
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
