import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { MAX_LISTED_PARENTS } from "../../../base/format/shown-limits.ts";
import type { Foreign } from "../../shared/comparison.ts";
import { failures } from "../common/error.ts";
import { FOREIGN_HINT, openForeign } from "../common/foreign.ts";
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

const Message = TextSchema.refine((text) => text.trim() !== "", "it must not be empty").optional();

/** Fields of all three request bodies. */
const Common = {
  message: Message.openapi({ description: "default: the message that git would write" }),
  committer: PersonSchema.optional().openapi({ description: "default: the author" }),
  expected: OidSchema.optional().openapi({
    description: "if given, the branch must be at this commit, else 409",
  }),
  dryRun: z.boolean().default(false).openapi({ description: "only answer what would be done, and change nothing" }),
};

const Mainline = z
  .number()
  .int()
  .min(1)
  .max(1_000)
  .optional()
  .openapi({ description: "needed for a merge: the parent, from 1, against which its change is taken" });

const Merge = z
  .strictObject({
    ...Common,
    base: BranchSchema.openapi({ description: "the branch to merge into, without `refs/heads/`" }),
    head: RefSchema.openapi({ description: `the commit to merge, ${FOREIGN_HINT}`, example: "topic" }),
    fastForward: z.enum(["allow", "only", "never"]).default("allow").openapi({
      description:
        "if the branch can be fast-forwarded to the head, `allow` and `only` move it, `never` makes a merge commit; otherwise `only` fails with 409",
    }),
    author: PersonSchema,
  })
  .openapi("Merge", { example: { base: "main", head: "topic", author: PERSON_EXAMPLE } });

const CherryPick = z
  .strictObject({
    ...Common,
    committer: PersonSchema.openapi({ description: "the author is kept" }),
    branch: BranchSchema,
    commit: RefSchema.openapi({ description: "the commit to apply again" }),
    mainline: Mainline,
  })
  .openapi("CherryPick", { example: { branch: "main", commit: "topic~1", committer: PERSON_EXAMPLE } });

const Revert = z
  .strictObject({
    ...Common,
    author: PersonSchema,
    branch: BranchSchema,
    commit: RefSchema.openapi({ description: "the commit to undo" }),
    mainline: Mainline,
  })
  .openapi("Revert", { example: { branch: "main", commit: "main~1", author: PERSON_EXAMPLE } });

function newAnswer<const Kind extends string>(kinds: readonly [Kind, ...Kind[]], meaning: string) {
  const schema = z.object({
    kind: z.enum(kinds).openapi({ description: meaning }),
    branch: z.string(),
    commit: NullableOidSchema.openapi({ description: "the branch's tip; null: a dry run makes no commit" }),
    tree: OidSchema,
    parents: z.array(OidSchema),
    parentsTruncated: z
      .boolean()
      .optional()
      .openapi({
        description: `true: the commit has more parents than the ${MAX_LISTED_PARENTS} that are told`,
      }),
    dryRun: z.boolean(),
  });
  const answer = (description: string) => ({ description, ...json(schema) });
  return {
    201: answer("The branch is at a new commit."),
    200: answer("No commit was made."),
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
    body: { required: true, ...json(Merge) },
  },
  responses: newAnswer(
    ["merge", "fast-forward", "up-to-date"],
    "`merge`: a merge commit was made. `fast-forward`: the branch was moved to the head. `up-to-date`: the branch already contains the head",
  ),
});

const cherryPick = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/cherry-pick",
  tags: ["commits"],
  summary: "Apply the change of a commit to a branch (cherry-pick)",
  request: {
    params: RepositoryParams,
    body: { required: true, ...json(CherryPick) },
  },
  responses: newAnswer(["picked", "unchanged"], "`unchanged`: the branch already contains the change"),
});

const revert = defineRoute("write", {
  method: "post",
  path: "/repos/{owner}/{repo}/revert",
  tags: ["commits"],
  summary: "Undo the change of a commit on a branch (revert)",
  request: {
    params: RepositoryParams,
    body: { required: true, ...json(Revert) },
  },
  responses: newAnswer(["reverted", "unchanged"], "`unchanged`: there was nothing to undo"),
});

/** Names a branch of another repository in a merge's message and conflicts. */
function nameOf({ entry, branch }: Foreign): string {
  return `${entry.owner}/${entry.name}:${decodeText(branch)}`;
}

/** `/repos/:owner/:repo/{merge,cherry-pick,revert}`: POST applies existing commits to a branch, or
 * reverts one. */
export const mergeRoutes = newRoutes()
  .openapi(merge, async (context) => {
    const { base, head, fastForward, author, ...common } = context.req.valid("json");
    const nowMs = Date.now();
    const source = await openForeign(context, head);
    const answer = await repositoryOf(context).merge({
      ...readCommon(common),
      branch: encodeText(base),
      head: source === null ? head : nameOf(source),
      source: source === null ? null : { repository: source.repository, branch: source.branch },
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
