import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { GitError } from "../format/errors.ts";
import type { RepositoryName } from "../format/repository-name.ts";
import type { RepositoryClient } from "../repository/calls.ts";
import type { Reading } from "../repository/files/reading.ts";
import type { NameRefusal, RepositoryChange, RepositoryDetails, RepositoryEntry } from "../store/registry.ts";
import { answerError } from "./error.ts";

/** What the routes find in a request's context. */
export interface RestEnv {
  Variables: {
    /** The repository that the path names; set for everything below `/repos/:owner/:repo`. */
    repository: RepositoryClient;
    /** Reads its bytes here, where the object says they lie; set likewise. */
    reading: Reading;
    /** Which repositories there are. */
    registry: RepositoryRegistry;
  };
}

/** The repositories of the deployment, which need not wake to be listed. */
export interface RepositoryRegistry {
  /** @see Registry.list */
  list(owner: string | null, after: RepositoryName | null, limit: number): Promise<RepositoryEntry[]>;
  /** @see Registry.read */
  read(name: RepositoryName): Promise<RepositoryEntry | null>;
  /** Creates a repository without any ref.
   * @param defaultBranch without `refs/heads/`, byte string
   * @returns why not, null: it is created */
  create(name: RepositoryName, details: RepositoryDetails, defaultBranch: string): Promise<NameRefusal | null>;
  /** Changes what is said of a repository, and its name. @see Registry.update */
  update(
    repository: RepositoryEntry,
    change: RepositoryChange,
  ): Promise<{ readonly kind: "updated"; readonly entry: RepositoryEntry } | NameRefusal | null>;
  /** Deletes a repository at once; its bytes go by and by.
   * @returns whether there was one */
  delete(name: RepositoryName): Promise<boolean>;
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
