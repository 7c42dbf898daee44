import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { MAX_HEAD_BYTES } from "../../../base/format/shown-limits.ts";
import { isHexOid } from "../../../base/format/oid.ts";
import { decodeLogPlace, encodeLogPlace } from "../../../contract/history.ts";
import { answerByIds } from "../common/conditional.ts";
import { failures } from "../common/error.ts";
import { bindCursor, NextCursor, PageQuery, unboundCursor } from "../common/paging.ts";
import { defineRoute, newRoutes, repositoryOf } from "../common/routes.ts";
import { CommitSchema, pathOf, PathSchema, RefSchema, RepositoryParams } from "../common/schemas.ts";

/** A time in a query, converted to seconds since 1970. */
const Time = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => Math.floor(Date.parse(text) / 1_000))
  .openapi({
    type: "string",
    description: "ISO 8601; a date without a time means midnight UTC",
    example: "2024-02-29T12:00:00Z",
  });

const Flag = z
  .enum(["true", "false"])
  .default("false")
  .transform((text) => text === "true");

/** Part of a commit that a search covers. */
const SEARCHED = `within the first ${MAX_HEAD_BYTES / 1_024} KiB of the commit`;

const LogQuery = PageQuery.extend({
  ref: RefSchema.default("HEAD"),
  path: PathSchema.optional().openapi({
    description: "only commits that change this file or directory; history is simplified as by `git log -- path`",
  }),
  since: Time.optional().openapi({ description: "earliest commit date; the walk stops at older commits" }),
  until: Time.optional().openapi({ description: "latest commit date" }),
  author: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .openapi({ description: `part of the author's \`name <email>\`, ${SEARCHED}` }),
  text: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .openapi({ description: `part of the message, ${SEARCHED}` }),
  ignoreCase: Flag.openapi({ description: "whether `author` and `text` match in capital and small letters alike" }),
  firstParent: Flag.openapi({ description: "follow only the first parent of merges" }),
  follow: Flag.openapi({
    description: "follow the file at `path` through renames, as `git log --follow` does; leaves out merges",
  }),
});

const Entry = CommitSchema.extend({
  path: z.string().optional().openapi({ description: "with `follow`: the file's path in this commit" }),
}).openapi("LogEntry");

const list = defineRoute("read", {
  method: "get",
  path: "/repos/{owner}/{repo}/log",
  tags: ["history"],
  summary: "List commits in the order of `git log`",
  description:
    "A page that takes too long ends early, with fewer commits than `limit` or none, and a cursor to continue. With a cursor, the other " +
    "parameters must stay the same.",
  request: { params: RepositoryParams, query: LogQuery },
  responses: {
    200: {
      description: "A page of commits.",
      content: {
        "application/json": {
          schema: z.object({ commits: z.array(Entry), nextCursor: NextCursor }).openapi("Log"),
        },
      },
    },
    304: { description: "Not modified." },
    ...failures(),
  },
});

/** `/repos/:owner/:repo/log`. */
export const logRoutes = newRoutes().openapi(list, async (context) => {
  const { cursor, ref, path: _, since = null, until = null, ...rest } = context.req.valid("query");
  const path = pathOf(context);
  const place = cursor === undefined ? null : decodeLogPlace(unboundCursor(context, cursor));
  const repository = repositoryOf(context);
  // Later pages depend only on their cursors.
  const tip = place === null ? (await repository.resolve(ref)).commit : null;
  const answer = async () => {
    const { author = null, text = null, ...others } = rest;
    const filter = { ...others, path: path === "" ? null : path, since, until, author, text };
    const { commits, next } = await repository.log({ ...filter, ref: tip ?? encodeText(ref), place });
    const shown = commits.map(({ path: at, ...commit }) =>
      at === null ? commit : { ...commit, path: decodeText(at) },
    );
    return context.json({ commits: shown, nextCursor: next && bindCursor(context, encodeLogPlace(next)) }, 200);
  };
  const isImmutable = place !== null || isHexOid(ref);
  return (await answerByIds(context, tip === null ? [] : [tip], isImmutable, answer)) as Awaited<
    ReturnType<typeof answer>
  >;
});
