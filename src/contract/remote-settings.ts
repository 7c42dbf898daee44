// The settings that a client may choose for another host's repository. The API describes its
// requests by these schemas. The object checks all settings by them, whether from the API or from a
// page.
import { z } from "@hono/zod-openapi";
import { decodeText } from "../base/format/byte-string.ts";
import { GitError } from "../base/format/errors.ts";
import {
  MAX_AUTHORIZATION_LENGTH,
  MAX_PREFIX_LENGTH,
  MAX_PREFIXES,
  MAX_URL_LENGTH,
} from "../base/format/table-limits.ts";

/** A header's value: visible ASCII characters, with spaces between them. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** The beginning of refs' names. A pkt-line of the protocol takes no control character. */
// oxlint-disable-next-line no-control-regex -- it excludes them.
const PREFIX = /^refs\/[^\x00-\x20\x7f]*$/;

const BAD_HEADER = `it is no value of a header of up to ${MAX_AUTHORIZATION_LENGTH} characters`;
const BAD_REFS = `write 1 to ${MAX_PREFIXES} beginnings of names, each with refs/ at its front`;

/** URL of the repository. */
export const RemoteUrl = z.string().max(MAX_URL_LENGTH, `it is longer than ${MAX_URL_LENGTH} characters`);

/** Value of the header `Authorization` for the other host; null: none is sent. */
export const Authorization = z
  .string()
  .min(1, BAD_HEADER)
  .max(MAX_AUTHORIZATION_LENGTH, BAD_HEADER)
  .regex(HEADER_VALUE, BAD_HEADER)
  .nullable();

/** Beginnings of refs' names. */
export const Prefixes = z
  .array(z.string().max(MAX_PREFIX_LENGTH, BAD_REFS).regex(PREFIX, BAD_REFS))
  .min(1, BAD_REFS)
  .max(MAX_PREFIXES, BAD_REFS);

const RemoteSettings = z.object({ url: RemoteUrl, authorization: Authorization, refs: Prefixes }).partial();

/** Settings of an import or a mirror. Absent ones are not checked. */
interface GivenSettings {
  readonly url?: string;
  readonly authorization?: string | null;
  /** Byte strings. */
  readonly prefixes?: readonly string[];
}

/** Checks settings.
 * @throws GitError "invalid" with the name of the invalid field */
export function checkRemoteSettings({ url, authorization, prefixes }: GivenSettings): void {
  const refs = prefixes?.map(decodeText);
  const { error } = RemoteSettings.safeParse({ url, authorization, refs });
  const issue = error?.issues[0];
  if (issue === undefined) return;
  const field = String(issue.path[0]);
  throw new GitError("invalid", { what: field, field, reason: issue.message });
}
