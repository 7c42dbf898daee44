import { z } from "@hono/zod-openapi";
import { GitError } from "../../format/errors.ts";

/** Characters of a cursor, short enough for any URL. */
export const MAX_CURSOR_LENGTH = 8_000;

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

/** Encodes the place where the next page begins. */
export function encodeCursor(place: unknown): string {
  return new TextEncoder().encode(JSON.stringify(place)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Decodes a cursor; null without one.
 * @throws GitError "invalid" for a cursor that this server did not give out */
export function decodeCursor<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  if (cursor === undefined) return null;
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: "base64url" }));
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new GitError("invalid", { what: "cursor", field: "cursor" }, { cause });
  }
}
