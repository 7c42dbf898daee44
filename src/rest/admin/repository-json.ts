// How repositories are named and shown, for the routes that make, list and change them.
import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../format/byte-string.ts";
import { GitError } from "../../format/errors.ts";
import { MAX_REF_NAME_BYTES } from "../../format/limits.ts";
import { isRefName } from "../../format/ref-name.ts";
import {
  isOwnerName,
  isRepositoryName,
  parseRepositoryName,
  type RepositoryName,
} from "../../format/repository-name.ts";
import type { NameRefusal } from "../../store/registry/registry-answers.ts";
import type { RepositoryEntry } from "../../store/registry/repository-rows.ts";
import type { RepositoryRegistry } from "../../repository/deployment.ts";

/** Characters of a description. */
const MAX_DESCRIPTION = 1_000;

export const Owner = z
  .string()
  .refine(isOwnerName, "1 to 100 letters, digits, '.', '_', '-'; not 'api', '.', '..', and no '.git' at the end")
  .openapi({ example: "me" });

export const Name = z
  .string()
  .refine(isRepositoryName, "1 to 100 letters, digits, '.', '_', '-'; not '.', '..', and no '.git' at the end")
  .openapi({ example: "my-repo" });

export const Description = z.string().max(MAX_DESCRIPTION).nullable();

export const Visibility = z.enum(["public", "private"]);

export const Branch = z
  .string()
  .refine(isBranchName, "this is not a valid branch name")
  .openapi({ description: "without refs/heads/", example: "main" });

export const RepositorySchema = z
  .object({
    id: z.string().openapi({ description: "stays the same when the repository is renamed" }),
    owner: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    visibility: Visibility,
    defaultBranch: z.string().nullable(),
    createdAt: z.iso.datetime(),
    pushedAt: z.iso.datetime().nullable().openapi({ description: "null: never pushed to" }),
    sizeBytes: z.number().int().openapi({ description: "stored size of the objects; may be some seconds old" }),
    objectCount: z.number().int().openapi({ description: "may be some seconds old" }),
    parent: z
      .object({ owner: z.string(), name: z.string() })
      .nullable()
      .openapi({ description: "what it is a fork of, if you may read that" }),
    sharedBytes: z.number().int().openapi({
      description: "stored size of what it shares with others of its family, on top of `sizeBytes`: no quota counts it",
    }),
    expiresAt: z.iso.datetime().nullable().openapi({ description: "when the fork deletes itself; null: never" }),
  })
  .openapi("Repository");

/** @throws GitError "not-found" */
export async function readEntry(
  registry: RepositoryRegistry,
  owner: string,
  repository: string,
): Promise<RepositoryEntry> {
  const name = parseRepositoryName(owner, repository);
  const entry = name === null ? null : await registry.read(name);
  if (entry === null) throw notFound();
  return entry;
}

/** A repository as the API shows it. */
export function toJson(entry: RepositoryEntry): z.input<typeof RepositorySchema> {
  const { createdMs, pushedMs, expiresMs, defaultBranch, parent, ...rest } = entry;
  return {
    ...rest,
    parent: parent === null ? null : { owner: parent.owner, name: parent.name },
    expiresAt: expiresMs === null ? null : new Date(expiresMs).toISOString(),
    defaultBranch: defaultBranch === null ? null : decodeText(defaultBranch),
    createdAt: new Date(createdMs).toISOString(),
    pushedAt: pushedMs === null ? null : new Date(pushedMs).toISOString(),
  };
}

/** The error for a repository that is not there. */
export function notFound(): GitError {
  return new GitError("not-found", { what: "repository" });
}

/** The error for a name that is refused. */
export function nameError(asked: RepositoryName, refusal: NameRefusal): GitError {
  if (refusal.kind === "held") {
    const reason = "another repository had it a moment ago";
    return new GitError("conflict", { what: "name", field: "name", reason, retryAfterMs: refusal.retryAfterMs });
  }
  const { owner, name } = refusal.by;
  if (owner === asked.owner && name === asked.name) {
    return new GitError("conflict", { what: "name", field: "name", reason: "a repository of this name exists" });
  }
  const reason = `it differs only in case from ${owner}/${name}, which exists`;
  return new GitError("invalid", { what: "name", field: "name", reason });
}

function isBranchName(name: string): boolean {
  const ref = `refs/heads/${encodeText(name)}`;
  return !name.startsWith("-") && name !== "HEAD" && ref.length <= MAX_REF_NAME_BYTES && isRefName(ref);
}
