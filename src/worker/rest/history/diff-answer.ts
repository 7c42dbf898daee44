// Common parts of answers with a diff: commits and comparisons.
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { decodeText } from "../../../base/format/byte-string.ts";
import type { DiffPage } from "../../../contract/diffs.ts";
import { cursorFor, CursorSchema, NextCursor } from "../common/paging.ts";
import { ModeSchema, NullableOidSchema } from "../common/schemas.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

/** The media type of a patch. */
const PATCH_TYPE = "text/x-diff";

/** The query of an answer that holds a diff. */
export const DiffQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).default(300).openapi({ description: "maximum number of files" }),
  cursor: CursorSchema.openapi({
    description: "`nextCursor` of the previous page; continues with the same two commits",
  }),
  format: z
    .enum(["json", "diff"])
    .optional()
    .openapi({
      description: `\`diff\`: the whole patch instead of JSON, as with \`Accept: ${PATCH_TYPE}\`; 413 when a changed file has more than 8 MiB, old and new together`,
    }),
});

const Mode = ModeSchema.nullable().openapi({ description: "octal; null: there is no such file on this side" });

const Lines = z
  .number()
  .int()
  .min(0)
  .nullable()
  .openapi({ description: "number of lines; null: binary, or too large to compare" });

const ChangedFile = z
  .object({
    path: z.string(),
    oldPath: z.string().nullable().openapi({ description: "former path of a renamed file, else null" }),
    status: z.enum(["added", "deleted", "modified", "renamed", "type-changed"]),
    oldMode: Mode,
    mode: Mode,
    oldOid: NullableOidSchema,
    oid: NullableOidSchema,
    similarity: z.number().int().min(0).max(100).nullable().openapi({ description: "of a renamed file, percent" }),
    additions: Lines,
    deletions: Lines,
    isBinary: z.boolean(),
    patch: z.string().nullable().openapi({
      description:
        "as printed by `git diff --full-index`; null: longer than 1 MiB, or the old and new file together exceed 8 MiB",
    }),
  })
  .openapi("ChangedFile");

/** The fields of an answer that describe changed files. */
export const DiffFields = {
  files: z.array(ChangedFile).openapi({ description: "sorted by path; long patches may end a page before `limit`" }),
  fileCount: z.number().int().min(0).openapi({ description: "number of changed files on all pages" }),
  additions: z.number().int().min(0).openapi({ description: "lines, for the files on this page" }),
  deletions: z.number().int().min(0).openapi({ description: "lines, for the files on this page" }),
  truncated: z.boolean().openapi({ description: "whether more than 50,000 files changed; the rest is left out" }),
  renamesLimited: z
    .boolean()
    .openapi({ description: "whether rename detection was cut short because too many files were added and deleted" }),
  nextCursor: NextCursor,
};

/** The 200 response of a route that returns a diff. */
export function diffResponse(description: string, schema: z.ZodType) {
  return { description, content: { "application/json": { schema }, [PATCH_TYPE]: { schema: z.string() } } };
}

/** Whether the client asks for a patch instead of JSON. */
export function wantsPatch(context: Context, format: "json" | "diff" | undefined): boolean {
  if (format !== undefined) return format === "diff";
  const accepted = (context.req.header("Accept") ?? "").split(",").map((type) => type.split(";")[0]!.trim());
  return accepted.includes(PATCH_TYPE) && !accepted.includes("application/json");
}

/** Fills `DiffFields`.
 * @param place returns the next page's place, given the number of files before it */
export function toDiffFields(
  context: Context,
  { files, total, next, isTruncated, isRenameLimited }: DiffPage,
  place: (start: number) => unknown,
) {
  return {
    files: files.map((file) => ({
      ...file,
      path: decodeText(file.path),
      oldPath: file.oldPath === null ? null : decodeText(file.oldPath),
    })),
    fileCount: total,
    additions: files.reduce((sum, { additions }) => sum + (additions ?? 0), 0),
    deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
    truncated: isTruncated,
    renamesLimited: isRenameLimited,
    nextCursor: next === null ? null : cursorFor(context, place(next)),
  };
}

/** Answers with the whole patch, read part by part as the client takes it.
 * @param base null: an empty tree */
export async function answerPatch(repository: RepositoryClient, base: string | null, head: string): Promise<Response> {
  // Read before the response begins, so that errors still get a status.
  let part = await repository.patch({ base, head, start: 0 });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (part.bytes.length > 0) controller.enqueue(part.bytes);
      if (part.next === null) controller.close();
      else part = await repository.patch({ base, head, start: part.next });
    },
  });
  return new Response(body, { headers: { "Content-Type": PATCH_TYPE, Vary: "Accept" } });
}
