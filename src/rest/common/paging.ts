import { z } from "@hono/zod-openapi";
import { fromByteString, toByteString } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";

/** Characters of a cursor: enough for the longest path in a directory that lists enter, 4,096 bytes,
 * with a name as long, and short enough for a URL, which may have 16 KB. */
export const MAX_CURSOR_LENGTH = 12_000;

/** The query of a list that comes in pages. */
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(30).openapi({ description: "maximum number of items" }),
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional().openapi({ description: "`nextCursor` of the previous page" }),
});

/** The cursor of the next page; null: this is the last one. */
export const NextCursor = z
  .string()
  .nullable()
  .openapi({ description: "pass it as `cursor` to get the next page; null: this is the last page" });

/** Encodes the place where the next page begins. Its strings are byte strings: UTF-8 would double
 * those that are not ASCII. */
export function encodeCursor(place: unknown): string {
  return fromByteString(JSON.stringify(place)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Decodes a cursor; null without one.
 * @throws GitError "invalid" for a cursor that this server did not give out */
export function decodeCursor<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  if (cursor === undefined) return null;
  try {
    const text = toByteString(Uint8Array.fromBase64(cursor, { alphabet: "base64url" }));
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new GitError("invalid", { what: "cursor", field: "cursor" }, { cause });
  }
}
