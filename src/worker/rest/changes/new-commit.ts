import { z } from "@hono/zod-openapi";
import { encodeText } from "../../../base/format/byte-string.ts";
import { GitError } from "../../../base/format/errors.ts";
import { MAX_COMMIT_OPERATIONS } from "../../../base/format/limits.ts";
import { FILE_MODES, type FileMode, type Operation } from "../../../contract/commits.ts";
import { failures } from "../common/error.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
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
  json,
} from "../common/schemas.ts";

const Path = TextSchema.min(1).openapi({
  description: "a path with slashes, from the repository's root",
  example: "docs/page.md",
});

const Mode = z
  .enum(Object.keys(FILE_MODES) as FileMode[])
  .openapi({ description: "a file, an executable file, or a symbolic link, whose content is its target" });

const Put = z.strictObject({
  op: z.literal("put"),
  path: Path,
  content: z.string().openapi({ description: "in the form that `encoding` names" }),
  encoding: z.enum(["utf-8", "base64"]).default("utf-8"),
  mode: Mode.optional().openapi({ description: "default: an existing file keeps its mode, a new one gets 100644" }),
});

const OperationSchema = z
  .discriminatedUnion("op", [
    Put,
    z.strictObject({
      op: z.literal("delete"),
      path: Path.openapi({ description: "a file, or a directory with everything in it" }),
    }),
    z.strictObject({
      op: z.literal("move"),
      from: Path.openapi({ description: "a file or directory" }),
      to: Path.openapi({ description: "a path that does not exist" }),
    }),
    z.strictObject({ op: z.literal("mode"), path: Path, mode: Mode }),
  ])
  .openapi("Operation");

const NewCommit = z
  .strictObject({
    branch: BranchSchema,
    startPoint: RefSchema.optional().openapi({
      description: "the start of a new branch; not needed for the first branch of a repository",
    }),
    base: RefSchema.optional().openapi({
      description: "the commit on which the change is based; default: the branch's tip",
    }),
    onConflict: z.enum(["merge", "fail"]).default("merge").openapi({
      description:
        "if the branch has moved on from `base`: `merge` applies the change to its tip with a three-way merge, `fail` answers 409",
    }),
    message: TextSchema.refine((text) => text.trim() !== "", "it must not be empty").openapi({
      example: "Explain the page\n",
    }),
    author: PersonSchema,
    committer: PersonSchema.optional().openapi({ description: "default: the author" }),
    allowEmpty: z.boolean().default(false).openapi({ description: "make a commit even if it changes nothing" }),
    operations: z.array(OperationSchema).max(MAX_COMMIT_OPERATIONS).openapi({ description: "applied in order" }),
  })
  .refine(({ operations, allowEmpty }) => operations.length > 0 || allowEmpty, {
    path: ["operations"],
    message: "at least one is needed, unless allowEmpty is set",
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
        "`fast-forward`: the branch was still at `base`. `rebased`: the branch had moved on, and the change was merged into one commit on its new tip. " +
        "`unchanged`: the branch already contains the change; no commit was made",
    }),
    branch: z.string(),
    commit: OidSchema.openapi({ description: "the branch's tip" }),
    tree: OidSchema,
    parents: z.array(OidSchema),
    files: z
      .array(z.object({ path: z.string(), mode: z.string().nullable(), oid: NullableOidSchema }))
      .openapi({ description: "the state of each path named in the operations; null: it does not exist" }),
  })
  .openapi("MadeCommit");

const made = (description: string) => ({ description, ...json(MadeCommit) });

const make = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/commits",
  tags: ["commits"],
  summary: "Change files on a branch with one commit",
  description:
    "The body has at most 24 MiB, in which base64 takes a third more than the file. Larger files come by a push, an upload or Git LFS.",
  request: {
    params: RepositoryParams,
    body: { required: true, ...json(NewCommit) },
  },
  responses: {
    201: made("The commit was made, and the branch is at it."),
    200: made("Nothing was changed, and no commit was made."),
    ...failures(409),
  },
});

/** `/repos/:owner/:repo/commits`: POST commits changes of files to a branch. */
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

/** @throws GitError "invalid" when the content does not match its encoding */
function readContent({ content, encoding }: z.infer<typeof Put>, field: string): Uint8Array {
  try {
    if (encoding === "base64") return Uint8Array.fromBase64(content);
  } catch (cause) {
    throw new GitError("invalid", { what: "content", field, reason: "it is not base64" }, { cause });
  }
  if (!content.isWellFormed())
    throw new GitError("invalid", { what: "content", field, reason: "it is not well-formed Unicode" });
  return new TextEncoder().encode(content);
}
