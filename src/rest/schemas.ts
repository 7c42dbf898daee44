import { z } from "@hono/zod-openapi";
import { encodeText } from "../format/byte-string.ts";
import type { Ident } from "../format/ident.ts";
import { isPushableRefName } from "../format/ref-name.ts";
import { FILE_MODE, formatMode } from "../format/tree.ts";

/** What an identity cannot hold. */
// oxlint-disable-next-line no-control-regex -- those are what is refused.
const UNWRITABLE = /[<>\u0000-\u001f\u007f]/;

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

/** A mode as answers show it. */
export const ModeSchema = z
  .string()
  .regex(/^[0-7]{6,}$/)
  .openapi({ description: "octal, as git writes it", example: formatMode(FILE_MODE) });

/** A whole object id, or null. (`OidSchema.nullable()` would be described as an id that is null besides.) */
export const NullableOidSchema = z.union([OidSchema, z.null()]);

/** What stands for a commit or another object: at most 1,000 characters, none of them a control. */
export const RefSchema = z
  .string()
  .min(1)
  .max(1_000)
  // oxlint-disable-next-line no-control-regex -- those are what is refused.
  .regex(/^[^\u0000-\u001f\u007f]*$/, "control characters cannot be in it")
  .openapi({
    description: "branch, tag (a branch goes before a tag of its name), id or its beginning, HEAD; with ~n and ^n",
    example: "main",
  });

/** Bytes of a pattern of ref names. */
const MAX_PATTERN_BYTES = 200;

/** A pattern of full ref names. */
export const RefPatternSchema = z
  .string()
  .startsWith("refs/")
  // oxlint-disable-next-line no-control-regex -- those are what is refused.
  .regex(/^[^\u0000-\u001f\u007f]*$/, "control characters cannot be in it")
  .refine((pattern) => encodeText(pattern).length <= MAX_PATTERN_BYTES, `it has more than ${MAX_PATTERN_BYTES} bytes`)
  .openapi({ description: "of full names: `*` stops at a slash, `**` does not", example: "refs/heads/release/**" });

/** A path in a repository, of which slashes at the ends are cut off. */
export const PathSchema = z
  .string()
  .max(4_096)
  .regex(/^[^\0]*$/, "NUL cannot be in it")
  .transform((path) => path.replace(/^\/+|\/+$/g, ""));

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

/** Text that has a UTF-8 form and no NUL, so that git can keep it. */
export const TextSchema = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes("\0"), "it must be well-formed Unicode without NUL");

/** The name of a ref below a folder of refs.
 * @param folder such as `refs/heads/` */
function refNameSchema(folder: string) {
  return z
    .string()
    .min(1)
    .max(1_000)
    .refine((name) => name.isWellFormed() && isPushableRefName(folder + encodeText(name), false), {
      message: "it must be the name of a ref, as git check-ref-format has it",
    });
}

/** A branch's name, without `refs/heads/`. */
export const BranchSchema = refNameSchema("refs/heads/").openapi({
  description: "without `refs/heads/`",
  example: "main",
});

/** A tag's name, without `refs/tags/`. */
export const TagSchema = refNameSchema("refs/tags/").openapi({ description: "without `refs/tags/`", example: "v1.0" });

/** A ref's name, without `refs/`. */
export const RefNameSchema = refNameSchema("refs/").openapi({ description: "without `refs/`", example: "heads/main" });

/** The id that a ref must be at to be changed. */
export const ExpectedSchema = OidSchema.nullish().openapi({
  description: "the id that the ref must be at, else 409; null: it must not be there; without it, it may be at any",
});

/** Whether a ref may lose what it leads to. */
export const ForceSchema = z.boolean().default(false).openapi({
  description: "move it also where that is no fast-forward, or where it is a tag",
});

const PersonText = z
  .string()
  .max(1_000)
  .refine((text) => text.isWellFormed() && text.trim() !== "" && !UNWRITABLE.test(text), {
    message: "it must hold something, and no control character, < or >",
  });

/** For the examples of bodies. */
export const PERSON_EXAMPLE = { name: "Ada Example", email: "ada@example.com" };

/** Who writes something; now, where no date is given. */
export const PersonSchema = z
  .object({
    name: PersonText.openapi({ example: "Ada Example" }),
    email: PersonText.openapi({ example: "ada@example.com" }),
    date: z.iso
      .datetime({ offset: true })
      .refine((date) => Date.parse(date) >= 0, "it must be a time from 1970 on")
      .optional()
      .openapi({ description: "without it now, in UTC" }),
  })
  .openapi("Person");

/** What git writes of somebody.
 * @param nowMs stands for a date that was not given */
export function toIdent({ name, email, date }: z.infer<typeof PersonSchema>, nowMs: number): Ident {
  const zone = /[+-]\d\d:?\d\d$/.exec(date ?? "")?.[0].replace(":", "") ?? "+0000";
  const timeMs = date === undefined ? nowMs : Date.parse(date);
  return {
    name: encodeText(name.trim()),
    email: encodeText(email.trim()),
    timeSeconds: Math.floor(timeMs / 1000),
    zone,
  };
}
