import { z } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { GitError, isGitError, LIMIT_KINDS, statusOf } from "../../../base/format/errors.ts";
import { logFailure } from "../../../base/format/failure-log.ts";
import { explainFailure } from "../../../base/failures/known-failures.ts";
import { json } from "./schemas.ts";

const Lines = z.object({
  start: z
    .number()
    .int()
    .openapi({ description: "first line, from 1; if there are no lines, the line before which they would be" }),
  count: z.number().int(),
  text: z.string(),
});

const Version = z
  .object({ mode: z.string(), oid: z.string() })
  .nullable()
  .openapi({ description: "null: this side has no such path" });

/** A path with a merge conflict: `ShownConflict`. */
const ConflictSchema = z
  .object({
    path: z.string(),
    kind: z.string().openapi({ description: "the kind of conflict, as git merge names it", example: "content" }),
    related: z.array(z.string()).openapi({ description: "other paths involved" }),
    base: Version,
    ours: Version,
    theirs: Version,
    hunks: z
      .array(z.object({ base: Lines, ours: Lines, theirs: Lines }))
      .openapi({ description: "lines changed on both sides" }),
    truncated: z.boolean().openapi({ description: "whether hunks or parts of their text were left out" }),
  })
  .openapi("Conflict");

/** The body of every error response. */
export const ErrorSchema = z
  .object({
    error: z.object({
      code: z.string().openapi({ description: "a stable code for programs", example: "not-found" }),
      message: z.string().openapi({ description: "an explanation for people" }),
      field: z.string().optional().openapi({ description: "the invalid field of the request" }),
      actual: z
        .string()
        .nullable()
        .optional()
        .openapi({ description: "for `stale`: the ref's current id; null: it does not exist" }),
      limitKind: z.enum(LIMIT_KINDS).optional().openapi({
        description:
          "for `too-large`: `pack` if a smaller pack could pass, so that the history can come in parts; `object` if one object is too large by itself; `quota` if what is stored would exceed the quota",
      }),
      conflicts: z
        .array(ConflictSchema)
        .optional()
        .openapi({ description: "for `conflict` in a merge: the first 1,000 conflicts" }),
      conflictCount: z.number().int().optional().openapi({ description: "number of all conflicts" }),
    }),
  })
  .openapi("Error");

/** Describes the error responses of a route: those of every route, and further ones. */
export function failures<Status extends number = never>(...further: Status[]) {
  const answer = (description: string) => ({
    description,
    ...json(ErrorSchema),
  });
  return {
    400: answer("The request is malformed."),
    401: answer("A valid token is needed."),
    403: answer("The token's right is not sufficient."),
    404: answer("The repository, or something in it, was not found or may not be read."),
    408: answer("The request body arrived too slowly."),
    413: answer("The request or its result is too large."),
    415: answer("The body is not JSON."),
    422: answer("A value in the request is not valid; `field` names it."),
    429: answer("Too many requests with an invalid token; `Retry-After` says how long to wait."),
    500: answer("The server failed."),
    503: answer("The service is temporarily unavailable; try again."),
    ...(Object.fromEntries(further.map((status) => [status, answer("See `error.code`.")])) as Record<
      Status,
      ReturnType<typeof answer>
    >),
  };
}

function describe(error: GitError): Record<string, unknown> {
  const { code, message, data } = error;
  return {
    code,
    message,
    field: data.field,
    ...(isGitError(error, "too-large") && { limitKind: error.data.limitKind }),
    ...(isGitError(error, "conflict") && {
      conflicts: error.data.conflicts,
      conflictCount: error.data.conflictCount,
    }),
    ...(isGitError(error, "stale") && { actual: error.data.actual }),
  };
}

/** Answers any thrown value. The details of server errors go to the log only. */
export function answerError(thrown: unknown): Response {
  // The framework's error for JSON that cannot be parsed.
  const error =
    thrown instanceof HTTPException && thrown.status === 400
      ? new GitError("bad-request", { reason: thrown.message }, { cause: thrown })
      : explainFailure(thrown);
  const status = isGitError(error) ? statusOf(error.code) : 500;
  if (status >= 500) logFailure(error);
  const body = isGitError(error) && status !== 500 ? describe(error) : { code: "internal", message: "internal error" };
  const headers = new Headers({ "Cache-Control": "no-store" });
  const retryAfterMs = isGitError(error) ? error.data.retryAfterMs : undefined;
  // Not Basic: browsers would ask the reader of a page for a password.
  if (status === 401) headers.set("WWW-Authenticate", 'Bearer realm="Holdfast"');
  if (typeof retryAfterMs === "number") headers.set("Retry-After", String(Math.ceil(retryAfterMs / 1000)));
  return Response.json({ error: body }, { status, headers });
}
