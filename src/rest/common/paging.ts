import { z } from "@hono/zod-openapi";
import { decodeCursor as decodeAny, MAX_CURSOR_LENGTH } from "../../format/cursor.ts";

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

/** Decodes a cursor; null without one.
 * @throws GitError "invalid" for a cursor that this server did not give out */
export function decodeCursor<Place>(cursor: string | undefined, schema: z.ZodType<Place>): Place | null {
  return cursor === undefined ? null : decodeAny(cursor, (value) => schema.parse(value));
}
