import { z } from "@hono/zod-openapi";
import { encodeText } from "../format/byte-string.ts";
import { GitError } from "../format/errors.ts";
import { FILE_MODES, type FileMode, type Operation } from "../repository/commit/operation.ts";
import { failures } from "./error.ts";
import { defineRoute, newRoutes, repositoryOf } from "./routes.ts";
import {
  BranchSchema,
  NullableOidSchema,
  OidSchema,
  PERSON_EXAMPLE,
  PersonSchema,
  RefSchema,
  RepositoryParams,
  TextSchema,
  toIdent,
} from "./schemas.ts";

/** Operations of one commit. */
const MAX_OPERATIONS = 10_000;

const Path = TextSchema.min(1).openapi({ description: "parts separated by slashes", example: "docs/page.md" });

const Mode = z
  .enum(Object.keys(FILE_MODES) as FileMode[])
  .openapi({ description: "a file, one that can be run, a symbolic link whose content is its target" });

const Put = z.object({
  op: z.literal("put"),
  path: Path,
  content: z.string().openapi({ description: "text, or what `encoding` says" }),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8"),
  mode: Mode.optional().openapi({ description: "without it a file keeps its mode, and a new one is 100644" }),
});

const OperationSchema = z
  .discriminatedUnion("op", [
    Put,
    z.object({ op: z.literal("delete"), path: Path.openapi({ description: "a file, or a directory with all in it" }) }),
    z.object({
      op: z.literal("move"),
      from: Path.openapi({ description: "a file or directory" }),
      to: Path.openapi({ description: "where nothing is" }),
    }),
    z.object({ op: z.literal("mode"), path: Path, mode: Mode }),
  ])
  .openapi("Operation");

const NewCommit = z
  .object({
    branch: BranchSchema,
    startPoint: RefSchema.optional().openapi({
      description: "where the branch begins if it is not there; the first branch of a repository begins with nothing",
    }),
    base: RefSchema.optional().openapi({
      description: "the commit whose files were edited; without it, the change is made to what the branch holds",
    }),
    onConflict: z.enum(["merge", "fail"]).default("merge").openapi({
      description:
        "when the branch has moved on from `base`: merge the change three ways and put it on top of it, or answer 409",
    }),
    message: TextSchema.refine((text) => text.trim() !== "", "it must hold something").openapi({
      example: "Explain the page\n",
    }),
    author: PersonSchema,
    committer: PersonSchema.optional().openapi({ description: "without it the author" }),
    allowEmpty: z.boolean().default(false).openapi({ description: "make a commit though it changes nothing" }),
    operations: z
      .array(OperationSchema)
      .max(MAX_OPERATIONS)
      .openapi({ description: "carried out one after the other" }),
  })
  .refine(({ operations, allowEmpty }) => operations.length > 0 || allowEmpty, {
    path: ["operations"],
    message: "there must be one, unless allowEmpty is set",
  })
  .openapi("NewCommit", {
    example: {
      branch: "main",
      message: "Explain the page\n",
      author: PERSON_EXAMPLE,
      operations: [
        { op: "put", path: "docs/page.md", content: "# A page\n" },
        { op: "move", from: "notes.md", to: "docs/notes.md" },
      ],
    },
  });

const MadeCommit = z
  .object({
    kind: z.enum(["fast-forward", "rebased", "unchanged"]).openapi({
      description:
        "`fast-forward`: on top of what the change was made for. `rebased`: the branch had moved on; the change was merged three ways and is one commit on top of it. " +
        "`unchanged`: the branch holds all this already, and no commit was made",
    }),
    branch: z.string(),
    commit: OidSchema.openapi({ description: "where the branch is now" }),
    tree: OidSchema,
    parents: z.array(OidSchema),
    files: z
      .array(z.object({ path: z.string(), mode: z.string().nullable(), oid: NullableOidSchema }))
      .openapi({ description: "what lies now at each path that the operations name; null: nothing" }),
  })
  .openapi("MadeCommit");

const made = (description: string) => ({ description, content: { "application/json": { schema: MadeCommit } } });

const make = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/commits",
  tags: ["commits"],
  summary: "Change files of a branch, in one commit",
  request: {
    params: RepositoryParams,
    body: { required: true, content: { "application/json": { schema: NewCommit } } },
  },
  responses: {
    201: made("The commit is made, and the branch is at it."),
    200: made("Nothing was changed."),
    ...failures(409),
  },
});

/** `/repos/:owner/:repo/commits`: POST changes files of a branch. */
export const newCommitRoutes = newRoutes().openapi(make, async (context) => {
  const { branch, startPoint, base, onConflict, message, author, committer, allowEmpty, operations } =
    context.req.valid("json");
  const nowMs = Date.now();
  const answer = await repositoryOf(context).commit({
    branch: encodeText(branch),
    startPoint: startPoint ?? null,
    base: base ?? null,
    onConflict,
    message: encodeText(message.endsWith("\n") ? message : `${message}\n`),
    author: toIdent(author, nowMs),
    committer: toIdent(committer ?? author, nowMs),
    allowEmpty,
    operations: operations.map(readOperation),
  });
  return context.json(answer, answer.kind === "unchanged" ? 200 : 201);
});

function readOperation(operation: z.infer<typeof OperationSchema>, index: number): Operation {
  switch (operation.op) {
    case "put":
      return {
        op: "put",
        path: encodeText(operation.path),
        content: readContent(operation, `operations.${index}.content`),
        mode: operation.mode ?? null,
      };
    case "move":
      return { op: "move", from: encodeText(operation.from), to: encodeText(operation.to) };
    case "delete":
    case "mode":
      return { ...operation, path: encodeText(operation.path) };
  }
}

/** @throws GitError "invalid" when it is not in its encoding */
function readContent({ content, encoding }: z.infer<typeof Put>, field: string): Uint8Array {
  try {
    if (encoding === "base64") return Uint8Array.fromBase64(content);
  } catch (cause) {
    throw new GitError("invalid", { what: "content", field, reason: "it is not base64" }, { cause });
  }
  if (!content.isWellFormed())
    throw new GitError("invalid", { what: "content", field, reason: "it is no Unicode text" });
  return new TextEncoder().encode(content);
}
