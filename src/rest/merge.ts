import { z } from "@hono/zod-openapi";
import { encodeText } from "../format/byte-string.ts";
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

const Message = TextSchema.refine((text) => text.trim() !== "", "it must hold something").optional();

/** What all three ask for alike. */
const Common = {
  message: Message.openapi({ description: "without it, the one that git would write" }),
  committer: PersonSchema.optional().openapi({ description: "without it the author" }),
  expected: OidSchema.optional().openapi({ description: "where the branch must be; without it, wherever it is" }),
  dryRun: z.boolean().default(false).openapi({ description: "answer as if it were done, and change nothing" }),
};

const Mainline = z
  .number()
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .openapi({ description: "when the commit is a merge: the parent, from 1, that its change is against" });

const Merge = z
  .object({
    ...Common,
    base: BranchSchema.openapi({ description: "the branch that takes the changes in, without `refs/heads/`" }),
    head: RefSchema.openapi({ description: "what is merged into it", example: "topic" }),
    fastForward: z.enum(["allow", "only", "never"]).default("allow").openapi({
      description:
        "where the head has all of the branch: `allow` moves the branch there, `never` makes a merge commit; `only` makes none at all, and answers 409 elsewhere",
    }),
    author: PersonSchema,
  })
  .openapi("Merge", { example: { base: "main", head: "topic", author: PERSON_EXAMPLE } });

const CherryPick = z
  .object({
    ...Common,
    committer: PersonSchema.openapi({ description: "the author stays who it is" }),
    branch: BranchSchema,
    commit: RefSchema.openapi({ description: "whose change is made once more" }),
    mainline: Mainline,
  })
  .openapi("CherryPick", { example: { branch: "main", commit: "topic~1", committer: PERSON_EXAMPLE } });

const Revert = z
  .object({
    ...Common,
    author: PersonSchema,
    branch: BranchSchema,
    commit: RefSchema.openapi({ description: "whose change is undone" }),
    mainline: Mainline,
  })
  .openapi("Revert", { example: { branch: "main", commit: "main~1", author: PERSON_EXAMPLE } });

function newAnswer<const Kind extends string>(kinds: readonly [Kind, ...Kind[]], meaning: string) {
  const schema = z.object({
    kind: z.enum(kinds).openapi({ description: meaning }),
    branch: z.string(),
    commit: NullableOidSchema.openapi({ description: "where the branch is now; null: a dry run made no commit" }),
    tree: OidSchema,
    parents: z.array(OidSchema),
    dryRun: z.boolean(),
  });
  const answer = (description: string) => ({ description, content: { "application/json": { schema } } });
  return {
    201: answer("There is a new commit, and the branch is at it."),
    200: answer("There is no new commit."),
    ...failures(409),
  };
}

const merge = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/merge",
  tags: ["commits"],
  summary: "Merge a commit into a branch",
  request: {
    params: RepositoryParams,
    body: { required: true, content: { "application/json": { schema: Merge } } },
  },
  responses: newAnswer(
    ["merge", "fast-forward", "up-to-date"],
    "`merge`: there is a commit of both. `fast-forward`: the branch is where the head is. `up-to-date`: the branch had all of the head",
  ),
});

const cherryPick = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/cherry-pick",
  tags: ["commits"],
  summary: "Make the change of a commit once more, on a branch",
  request: {
    params: RepositoryParams,
    body: { required: true, content: { "application/json": { schema: CherryPick } } },
  },
  responses: newAnswer(["picked", "unchanged"], "`unchanged`: the branch had the change already"),
});

const revert = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/revert",
  tags: ["commits"],
  summary: "Undo the change of a commit, on a branch",
  request: {
    params: RepositoryParams,
    body: { required: true, content: { "application/json": { schema: Revert } } },
  },
  responses: newAnswer(["reverted", "unchanged"], "`unchanged`: the branch had nothing of the change"),
});

/** `/repos/:owner/:repo/{merge,cherry-pick,revert}`: POST puts on top of a branch what others have changed, or takes it back. */
export const mergeRoutes = newRoutes()
  .openapi(merge, async (context) => {
    const { base, head, fastForward, author, ...common } = context.req.valid("json");
    const nowMs = Date.now();
    const answer = await repositoryOf(context).merge({
      ...readCommon(common),
      branch: encodeText(base),
      head,
      fastForward,
      author: toIdent(author, nowMs),
      committer: toIdent(common.committer ?? author, nowMs),
    });
    return context.json(answer, answer.kind === "merge" && !answer.dryRun ? 201 : 200);
  })
  .openapi(cherryPick, async (context) => {
    const { branch, commit, mainline, committer, ...common } = context.req.valid("json");
    const answer = await repositoryOf(context).cherryPick({
      ...readCommon(common),
      branch: encodeText(branch),
      commit,
      mainline: mainline ?? null,
      committer: toIdent(committer, Date.now()),
    });
    return context.json(answer, answer.kind === "picked" && !answer.dryRun ? 201 : 200);
  })
  .openapi(revert, async (context) => {
    const { branch, commit, mainline, author, ...common } = context.req.valid("json");
    const nowMs = Date.now();
    const answer = await repositoryOf(context).revert({
      ...readCommon(common),
      branch: encodeText(branch),
      commit,
      mainline: mainline ?? null,
      author: toIdent(author, nowMs),
      committer: toIdent(common.committer ?? author, nowMs),
    });
    return context.json(answer, answer.kind === "reverted" && !answer.dryRun ? 201 : 200);
  });

function readCommon({ message, expected, dryRun }: Pick<z.infer<typeof Merge>, "message" | "expected" | "dryRun">) {
  const written = message === undefined ? null : encodeText(message.endsWith("\n") ? message : `${message}\n`);
  return { message: written, expected: expected ?? null, isDryRun: dryRun };
}
