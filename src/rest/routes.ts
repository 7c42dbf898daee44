import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { GitError } from "../format/errors.ts";
import type { RepositoryClient } from "../repository/calls.ts";
import type { Reading } from "../repository/files/reading.ts";
import { answerError } from "./error.ts";

/** What the routes find in a request's context. */
export interface RestEnv {
  Variables: {
    /** The repository that the path names; set for everything below `/repos/:owner/:repo`. */
    repository: RepositoryClient;
    /** Reads its bytes here, where the object says they lie; set likewise. */
    reading: Reading;
  };
}

/** An app for the routes of a resource: what its schemas refuse is answered 422, with the field at fault. */
export function newRoutes(): OpenAPIHono<RestEnv> {
  return new OpenAPIHono<RestEnv>({
    defaultHook: (result) => {
      if (result.success) return undefined;
      const [issue] = result.error.issues;
      const field = issue?.path.join(".");
      return answerError(
        new GitError("invalid", { what: field === "" ? "request" : field, field, reason: issue?.message }),
      );
    },
  });
}

/** The repository that a request's path names. */
export function repositoryOf(context: Context<RestEnv>): RepositoryClient {
  return context.get("repository");
}
