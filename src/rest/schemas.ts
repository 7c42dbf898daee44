import { z } from "@hono/zod-openapi";

/** The path of a repository's resources. */
export const RepositoryParams = z.object({
  owner: z.string().openapi({ param: { name: "owner", in: "path" }, example: "me" }),
  repo: z.string().openapi({ param: { name: "repo", in: "path" }, example: "my-repo" }),
});

/** A whole object id. */
export const OidSchema = z
  .string()
  .regex(/^[0-9a-f]{40}$/)
  .openapi("Oid", { description: "object id, 40 hex digits", example: "e83c5163316f89bfbde7d9ab23ca2e25604af290" });

/** What stands for a commit or another object: at most 1,000 characters, none of them a control. */
export const RefSchema = z
  .string()
  .min(1)
  .max(1_000)
  // oxlint-disable-next-line no-control-regex -- those are what is refused.
  .regex(/^[^\u0000-\u001f\u007f]*$/, "control characters cannot be in it")
  .openapi({ description: "branch, tag, id or its beginning, HEAD; with ~n and ^n", example: "main" });

/** Who wrote something, and when. */
export const IdentSchema = z
  .object({
    name: z.string(),
    email: z.string(),
    date: z.iso.datetime({ offset: true }).openapi({ description: "in the author's own time zone" }),
  })
  .openapi("Ident");

/** A commit: `CommitRecord`. */
export const CommitSchema = z
  .object({
    oid: OidSchema,
    tree: OidSchema,
    parents: z.array(OidSchema),
    author: IdentSchema,
    committer: IdentSchema,
    message: z.string().openapi({ description: "subject and body, as they were written" }),
  })
  .openapi("Commit");
