import { z } from "@hono/zod-openapi";
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { decodeCursor as decodeAny, encodeCursor, MAX_CURSOR_LENGTH } from "../../../base/format/cursor.ts";
import { GitError } from "../../../base/format/errors.ts";

/** Length of each of a cursor's two prefixes: one for the request that it continues, one for its
 * `ref`. */
const BOND_LENGTH = 8;

/** Prefix for a request without `ref`. */
const NO_REF = "-".repeat(BOND_LENGTH);

/** Parameters that may change from page to page, since they change the amount of data in a page,
 * not its subject. `ref` has a prefix of its own. */
const FREE = ["cursor", "limit", "lfs", "lastCommit", "ref"];

/** A cursor in a query. */
export const CursorSchema = z
  .string()
  .max(MAX_CURSOR_LENGTH + 2 * BOND_LENGTH)
  .optional();

/** Query of a paged list. */
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(30).openapi({ description: "maximum number of items" }),
  cursor: CursorSchema.openapi({ description: "`nextCursor` of the previous page" }),
});

/** Cursor of the next page; null: this is the last page. */
export const NextCursor = z.string().nullable().openapi({
  description:
    "pass it as `cursor`, with the other parameters as they were (`ref` may be left out), to get the next page; null: this is the last page",
});

/** Decodes a cursor; null without one.
 * @throws GitError "invalid" for a cursor that this server did not issue, or issued for another
 * request */
export function decodeCursor<Place>(
  context: Context,
  cursor: string | undefined,
  schema: z.ZodType<Place>,
): Place | null {
  return cursor === undefined ? null : decodeAny(unboundCursor(context, cursor), (value) => schema.parse(value));
}

/** Makes the cursor of the next page, valid only for the same request.
 * @param place where that page begins */
export function cursorFor(context: Context, place: unknown): string {
  return bindCursor(context, encodeCursor(place));
}

/** Binds a cursor to the request that it continues. */
export function bindCursor({ req }: Context, cursor: string): string {
  const { request, ref } = bondsOf(req.url);
  const given = req.query("cursor")?.slice(BOND_LENGTH, 2 * BOND_LENGTH);
  return request + (ref ?? given ?? NO_REF) + cursor;
}

/** Checks a cursor and removes its prefixes. A request without `ref` continues with the first
 * page's `ref`.
 * @throws GitError "invalid" when it continues another request */
export function unboundCursor({ req }: Context, cursor: string): string {
  const { request, ref } = bondsOf(req.url);
  if (cursor.startsWith(request) && (ref === null || cursor.startsWith(ref, BOND_LENGTH)))
    return cursor.slice(2 * BOND_LENGTH);
  const reason = "it continues another request: ask for the next page as for the first, with the cursor";
  throw new GitError("invalid", { what: "cursor", field: "cursor", reason });
}

/** Makes the prefixes for a request, independent of the repository's name, which may change, and
 * for its `ref`, if it has one. */
function bondsOf(url: string): { request: string; ref: string | null } {
  const { pathname, search } = new URL(url);
  const pairs = search
    .slice(1)
    .split("&")
    .filter((pair) => pair !== "");
  const isOf = (pair: string, name: string): boolean => pair.split("=", 1)[0] === name;
  const bound = pairs.filter((pair) => !FREE.some((name) => isOf(pair, name))).sort();
  const ref = pairs.find((pair) => isOf(pair, "ref"));
  return {
    request: bondOf([pathname.replace(/^\/api\/repos\/[^/]+\/[^/]+/, ""), ...bound].join("\n")),
    ref: ref === undefined ? null : bondOf(ref),
  };
}

function bondOf(text: string): string {
  return createHash("sha1").update(text).digest("base64url").slice(0, BOND_LENGTH);
}
