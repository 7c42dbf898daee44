// What answers that hold a diff share: commits and comparisons.
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RepositoryClient } from "../repository/calls.ts";
import type { DiffPage } from "../repository/diff/diff.ts";
import { encodeCursor, MAX_CURSOR_LENGTH, NextCursor } from "./paging.ts";
import { ModeSchema, NullableOidSchema } from "./schemas.ts";

/** The media type of a patch. */
const PATCH_TYPE = "text/x-diff";

/** The query of an answer that holds a diff. */
export const DiffQuerySchema = z.object({
  limit: z.coerce.number().int().min(1).max(1_000).default(300).openapi({ description: "how many files at the most" }),
  cursor: z.string().max(MAX_CURSOR_LENGTH).optional().openapi({
    description: "`nextCursor` of the page before, which goes on with the very commits that this one compared",
  }),
  format: z
    .enum(["json", "diff"])
    .optional()
    .openapi({
      description: `\`diff\`: the whole patch, as \`Accept: ${PATCH_TYPE}\` asks for it too`,
    }),
});

const Mode = ModeSchema.nullable().openapi({ description: "octal; null: the file was not or is not there" });

const Lines = z
  .number()
  .int()
  .min(0)
  .nullable()
  .openapi({ description: "lines; null: binary, or too large to be compared" });

const ChangedFile = z
  .object({
    path: z.string(),
    oldPath: z.string().nullable().openapi({ description: "of a renamed file where it was, else null" }),
    status: z.enum(["added", "deleted", "modified", "renamed", "type-changed"]),
    oldMode: Mode,
    mode: Mode,
    oldOid: NullableOidSchema,
    oid: NullableOidSchema,
    similarity: z.number().int().min(0).max(100).nullable().openapi({ description: "percent, of a renamed file" }),
    additions: Lines,
    deletions: Lines,
    isBinary: z.boolean(),
    patch: z.string().nullable().openapi({
      description:
        "as `git diff --full-index` prints it; null: it is longer than 1 MiB, or the file is larger than 8 MiB, old and new together",
    }),
  })
  .openapi("ChangedFile");

/** What an answer says of changed files, besides what it compares. */
export const DiffFields = {
  files: z
    .array(ChangedFile)
    .openapi({ description: "by path; a page may end before `limit` if its patches are long" }),
  fileCount: z.number().int().min(0).openapi({ description: "on all pages" }),
  additions: z.number().int().min(0).openapi({ description: "of the files on this page" }),
  deletions: z.number().int().min(0).openapi({ description: "of the files on this page" }),
  truncated: z.boolean().openapi({ description: "whether more than 50,000 files changed: the others are left out" }),
  renamesLimited: z.boolean().openapi({ description: "whether too many files came and went to find all renames" }),
  nextCursor: NextCursor,
};

/** The 200 of a route whose answer holds a diff. */
export function diffResponse(description: string, schema: z.ZodType) {
  return { description, content: { "application/json": { schema }, [PATCH_TYPE]: { schema: z.string() } } };
}

/** Whether a patch is asked for, and no JSON. */
export function wantsPatch(context: Context, format: "json" | "diff" | undefined): boolean {
  if (format !== undefined) return format === "diff";
  const accepted = (context.req.header("Accept") ?? "").split(",").map((type) => type.split(";")[0]!.trim());
  return accepted.includes(PATCH_TYPE) && !accepted.includes("application/json");
}

/** Fills `DiffFields`.
 * @param place makes the place of the next page, given how many files come before it */
export function toDiffFields(
  { files, total, next, isCut, isRenameLimited }: DiffPage,
  place: (start: number) => unknown,
) {
  return {
    files,
    fileCount: total,
    additions: files.reduce((sum, { additions }) => sum + (additions ?? 0), 0),
    deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
    truncated: isCut,
    renamesLimited: isRenameLimited,
    nextCursor: next === null ? null : encodeCursor(place(next)),
  };
}

/** Answers with the whole patch, read part by part as the client takes it.
 * @param base null: an empty tree */
export async function answerPatch(repository: RepositoryClient, base: string | null, head: string): Promise<Response> {
  // What cannot be answered is known with the first part.
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
