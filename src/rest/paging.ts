import { z } from "@hono/zod-openapi";
import { GitError } from "../format/errors.ts";

/** Characters of a cursor: what surely fits into a URL. */
export const MAX_CURSOR_LENGTH = 8_000;

/** The query of a list that comes in pages. */
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(30).openapi({ description: "how many at the most" }),
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional().openapi({ description: "`nextCursor` of the page before" }),
});

/** What a page ends with; null: there is no more. */
export const NextCursor = z
  .string()
  .nullable()
  .openapi({ description: "`cursor` of the next page; null: this is the last" });

/** Makes a cursor of where the next page begins. */
export function encodeCursor(place: unknown): string {
  return new TextEncoder().encode(JSON.stringify(place)).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Reads a cursor, null without one.
 * @throws GitError "invalid" when it is none that was ever given out */
export function decodeCursor<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  if (cursor === undefined) return null;
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(cursor, { alphabet: "base64url" }));
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new GitError("invalid", { what: "cursor", field: "cursor" }, { cause });
  }
}
