import { HEX_OID, OID_HEX_LENGTH } from "../../../base/format/oid.ts";
import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { MAX_CONTEXT_CHARS, MAX_PATTERN_BYTES } from "../../../base/access/ref-rules.ts";
import { encodeText } from "../../../base/format/byte-string.ts";
import { type Ident, isPersonText, MAX_PERSON_TEXT } from "../../../base/format/ident.ts";
import {
  MAX_LISTED_MESSAGE_BYTES,
  MAX_LISTED_NAME_BYTES,
  MAX_LISTED_PARENTS,
  MAX_SHOWN_PARENTS,
  MESSAGE_PART_BYTES,
} from "../../../base/format/shown-limits.ts";
import { isPushableRefName } from "../../../base/format/ref-name.ts";
import { FILE_MODE, formatMode } from "../../../base/format/tree.ts";
import { queryBytes } from "./request-query.ts";

/** The path parameters of a repository's resources. */
export const RepositoryParams = z.object({
  owner: z.string().openapi({ param: { name: "owner", in: "path" }, example: "me" }),
  repo: z.string().openapi({ param: { name: "repo", in: "path" }, example: "my-repo" }),
});

/** A full object id. */
export const OidSchema = z
  .string()
  .regex(new RegExp(`^${HEX_OID}$`))
  .openapi("Oid", {
    description: `object id, ${OID_HEX_LENGTH} hex digits`,
    example: "e83c5163316f89bfbde7d9ab23ca2e25604af290",
  });

/** A file mode in responses. */
export const ModeSchema = z
  .string()
  .regex(/^[0-7]{6,}$/)
  .openapi({ description: "octal file mode, as git writes it", example: formatMode(FILE_MODE) });

/** A full object id, or null. (`OidSchema.nullable()` would be documented as an id that is null at
 * the same time.) */
export const NullableOidSchema = z.union([OidSchema, z.null()]);

/** A revision: at most 1,000 characters, no control characters. */
export const RefSchema = z
  .string()
  .min(1)
  .max(1_000)
  // oxlint-disable-next-line no-control-regex -- control characters are refused here.
  .regex(/^[^\u0000-\u001f\u007f]*$/, "it must not contain control characters")
  .openapi({
    description:
      "a branch, a tag (a branch of the same name is preferred), an object id or a unique prefix of one, or HEAD; with ~n and ^n",
    example: "main",
  });

/** A pattern for full ref names. */
export const RefPatternSchema = z
  .string()
  .startsWith("refs/")
  // oxlint-disable-next-line no-control-regex -- control characters are refused here.
  .regex(/^[^\u0000-\u001f\u007f]*$/, "it must not contain control characters")
  .refine((pattern) => encodeText(pattern).length <= MAX_PATTERN_BYTES, `it has more than ${MAX_PATTERN_BYTES} bytes`)
  .openapi({
    description: "matches full ref names; `*` matches within a part, `**` also across slashes",
    example: "refs/heads/release/**",
  });

/** A path in a repository, not necessarily UTF-8. `pathOf` reads it. */
export const PathSchema = z
  .string()
  .max(4_096)
  .regex(/^[^\0]*$/, "it must not contain NUL");

/** Reads the parameter `path` of a query, without leading and trailing slashes; "" without one.
 * @returns byte string */
export function pathOf(context: Context): string {
  return pathsOf(context)[0] ?? "";
}

/** Reads the parameter `path` of a query, which may be repeated.
 * @returns byte strings */
export function pathsOf(context: Context): string[] {
  return queryBytes(context, "path").map((path) => path.replace(/^\/+|\/+$/g, ""));
}

/** Author, committer or tagger, with a time. */
export const IdentSchema = z
  .object({
    name: z.string(),
    email: z.string(),
    date: z.iso.datetime({ offset: true }).openapi({ description: "in the person's own time zone" }),
    truncated: z
      .boolean()
      .optional()
      .openapi({
        description: `true: name or email is cut, in lists after ${MAX_LISTED_NAME_BYTES} bytes, or lies behind more headers than a list reads`,
      }),
  })
  .openapi("Ident");

/** The requested part of a message. */
export const PartSchema = z.coerce.number().int().min(1).default(1).openapi({
  description: "of the message, if that comes in several parts; from 1",
});

/** Number of parts of a message. */
export const MessagePartsSchema = z
  .number()
  .int()
  .min(2)
  .optional()
  .openapi({
    description: `in how many parts, of ${MESSAGE_PART_BYTES / 1_024} KiB, the message comes: \`part\` asks for one; absent: it is whole`,
  });

/** A commit: `CommitRecord`. */
export const CommitSchema = z
  .object({
    oid: OidSchema,
    tree: OidSchema,
    parents: z.array(OidSchema),
    author: IdentSchema,
    committer: IdentSchema,
    message: z.string().openapi({ description: "subject and body, as stored" }),
    messageTruncated: z
      .boolean()
      .optional()
      .openapi({
        description: `true: the message is cut; in lists after ${MAX_LISTED_MESSAGE_BYTES / 1_024} KiB, or less if a list holds much`,
      }),
    parentsTruncated: z
      .boolean()
      .optional()
      .openapi({
        description: `true: there are more parents; lists tell ${MAX_LISTED_PARENTS}, a single commit ${MAX_SHOWN_PARENTS}`,
      }),
  })
  .openapi("Commit");

/** Text that can be stored as UTF-8 without NUL, as git needs it. */
export const TextSchema = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes("\0"), "it must be well-formed Unicode without NUL");

/** The check that a status belongs to, in one line. */
export const ContextSchema = TextSchema.min(1)
  .max(MAX_CONTEXT_CHARS)
  .refine((text) => !/\p{Cc}/u.test(text), "it must be without control characters");

/** The name of a ref below a folder.
 * @param folder such as `refs/heads/` */
function refNameSchema(folder: string) {
  return z
    .string()
    .min(1)
    .max(1_000)
    .refine((name) => name.isWellFormed() && isPushableRefName(folder + encodeText(name), false), {
      message: "it must be a valid ref name, see git check-ref-format",
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

/** The id that a ref must have before it is changed. */
export const ExpectedSchema = OidSchema.nullish().openapi({
  description: "if given, the ref must have this id, else 409; null: it must not exist",
});

/** Whether a move may discard commits. */
export const ForceSchema = z.boolean().default(false).openapi({
  description: "allow a move that is not a fast-forward, and any move of a tag",
});

const PersonText = z
  .string()
  .max(MAX_PERSON_TEXT)
  .refine(isPersonText, { message: "it must not be empty or contain control characters, < or >" });

/** Person in examples of request bodies. */
export const PERSON_EXAMPLE = { name: "Ada Example", email: "ada@example.com" };

/** An author, committer or tagger; the date defaults to now. */
export const PersonSchema = z
  .strictObject({
    name: PersonText.openapi({ example: "Ada Example" }),
    email: PersonText.openapi({ example: "ada@example.com" }),
    date: z.iso
      .datetime({ offset: true })
      .refine((date) => Date.parse(date) >= 0, "it must be a time from 1970 on")
      .optional()
      .openapi({ description: "default: now, in UTC" }),
  })
  .openapi("Person");

/** Converts a person to the identity that git stores.
 * @param nowMs used when there is no date */
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

/** Describes a JSON body with a schema. */
export const json = <Schema extends z.ZodType>(schema: Schema) => ({ content: { "application/json": { schema } } });

/** First words in the description of a credential for another host. */
export const SIGNS_IN =
  "the header `Authorization`, such as `Bearer …`, stored encrypted, never shown, sent to the origin of `url` only: as";

/** Formats a time for answers: ISO 8601, in UTC.
 * @param ms since 1970; null: never */
export function toTime(ms: number): string;
export function toTime(ms: number | null): string | null;
export function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
