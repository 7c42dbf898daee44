// Names and JSON of repositories, for the routes that create, list and change them.
import { z } from "@hono/zod-openapi";
import { decodeText, encodeText } from "../../../base/format/byte-string.ts";
import { isBranchName } from "../../../base/format/ref-name.ts";
import { isOwnerName, isRepositoryName, NAME_RULE } from "../../../base/format/repository-name.ts";
import { MAX_DESCRIPTION } from "../../../base/format/table-limits.ts";
import type { RepositoryEntry } from "../../../contract/registry.ts";
import { toTime } from "../common/schemas.ts";

export const Owner = z.string().refine(isOwnerName, `${NAME_RULE}; not 'api' or '-'`).openapi({ example: "me" });

export const Name = z.string().refine(isRepositoryName, NAME_RULE).openapi({ example: "my-repo" });

export const Description = z.string().max(MAX_DESCRIPTION).nullable();

export const Visibility = z.enum(["public", "private"]);

export const Branch = z
  .string()
  .refine((name) => isBranchName(encodeText(name)), "this is not a valid branch name")
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

/** A repository as the API shows it. */
export function toJson(entry: RepositoryEntry): z.input<typeof RepositorySchema> {
  const { createdMs, pushedMs, expiresMs, defaultBranch, parent, ...rest } = entry;
  return {
    ...rest,
    parent: parent === null ? null : { owner: parent.owner, name: parent.name },
    expiresAt: toTime(expiresMs),
    defaultBranch: defaultBranch === null ? null : decodeText(defaultBranch),
    createdAt: toTime(createdMs),
    pushedAt: toTime(pushedMs),
  };
}
