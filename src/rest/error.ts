import { z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { GitError, isGitError } from "../format/errors.ts";
import { statusOf } from "../format/http-status.ts";
import { whenFull } from "../store/chunks/full-storage.ts";

const Lines = z.object({
  start: z
    .number()
    .int()
    .openapi({ description: "the first of them, from 1; of none: the line before which they would be" }),
  count: z.number().int(),
  text: z.string(),
});

const Version = z
  .object({ mode: z.string(), oid: z.string() })
  .nullable()
  .openapi({ description: "null: nothing lies there" });

/** A path that could not be merged: `ShownConflict`. */
const ConflictSchema = z
  .object({
    path: z.string(),
    kind: z.string().openapi({ description: "why, in the words of git merge", example: "content" }),
    related: z.array(z.string()).openapi({ description: "other paths that have to do with it" }),
    base: Version,
    ours: Version,
    theirs: Version,
    hunks: z
      .array(z.object({ base: Lines, ours: Lines, theirs: Lines }))
      .openapi({ description: "the lines that both sides changed" }),
    truncated: z.boolean().openapi({ description: "there are more hunks, or more of their text" }),
  })
  .openapi("Conflict");

/** The shape of every failure. */
export const ErrorSchema = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "what to act on", example: "not-found" }),
      message: z.string().openapi({ description: "for people" }),
      field: z.string().optional().openapi({ description: "of the request: what is not valid" }),
      actual: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: "of `stale`: the id that the ref is at; null: it is not there" }),
      conflicts: z
        .array(ConflictSchema)
        .optional()
        .openapi({ description: "of `conflict`, when it is one of a merge: the first thousand" }),
      conflictCount: z.number().int().optional(),
    }),
  })
  .openapi("Error");

/** Describes the answers by which a route may fail, besides those that any may give (400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 503). */
export function failures<Status extends number = never>(...further: Status[]) {
  const answer = (description: string) => ({
    description,
    content: { "application/json": { schema: ErrorSchema } },
  });
  return {
    400: answer("The request is malformed."),
    401: answer("A valid token is needed."),
    403: answer("The token's right does not reach as far."),
    404: answer("The repository, or what was asked of it, is not there."),
    408: answer("The request's body came too slowly."),
    413: answer("The request, or what it asks for, is too large."),
    415: answer("The body is not JSON."),
    422: answer("A value of the request is not valid."),
    429: answer("There were too many requests with a wrong token."),
    500: answer("The server failed."),
    503: answer("The server cannot serve now; try again."),
    ...(Object.fromEntries(further.map((status) => [status, answer("See `error.code`.")])) as Record<
      Status,
      ReturnType<typeof answer>
    >),
  };
}

function describe({ code, message, data }: GitError): Record<string, unknown> {
  const { field, conflicts, conflictCount } = data;
  return { code, message, field, conflicts, conflictCount, actual: code === "stale" ? data["actual"] : undefined };
}

/** Answers with a failure, whatever was thrown. What is the server's own goes to its log, without particulars to the client. */
export function answerError(thrown: unknown): Response {
  // The framework's word for JSON that cannot be parsed.
  const error =
    thrown instanceof HTTPException && thrown.status === 400
      ? new GitError("bad-request", { reason: thrown.message }, { cause: thrown })
      : (whenFull(thrown) ?? thrown);
  const status = isGitError(error) ? statusOf(error.code) : 500;
  if (status >= 500) {
    // oxlint-disable-next-line no-console -- the log is where the server's own failures can be mended.
    console.error(error);
  }
  const body = isGitError(error) && status !== 500 ? describe(error) : { code: "internal", message: "internal error" };
  const headers = new Headers({ "Cache-Control": "no-store" });
  const retryAfterMs = isGitError(error) ? error.data["retryAfterMs"] : undefined;
  // Not Basic: browsers would ask the reader of a page for a password.
  if (status === 401) headers.set("WWW-Authenticate", 'Bearer realm="Holdfast"');
  if (typeof retryAfterMs === "number") headers.set("Retry-After", String(Math.ceil(retryAfterMs / 1000)));
  return Response.json({ error: body }, { status, headers });
}
