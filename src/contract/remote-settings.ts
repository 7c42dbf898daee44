// What a client may say of another host's repository. The API describes its requests by these
// schemas; the object checks by them whatever comes, from the API or from a page.
import { z } from "@hono/zod-openapi";
import { decodeText } from "../base/format/byte-string.ts";
import { GitError } from "../base/format/errors.ts";
import {
  MAX_AUTHORIZATION_LENGTH,
  MAX_PREFIX_LENGTH,
  MAX_PREFIXES,
  MAX_URL_LENGTH,
} from "../base/format/table-limits.ts";

/** The value of a header: visible ASCII characters, with spaces among them. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What the names of refs begin with. A pkt-line of the protocol takes no control character. */
// oxlint-disable-next-line no-control-regex -- it excludes them.
const PREFIX = /^refs\/[^\x00-\x20\x7f]*$/;

const BAD_HEADER = `it is no value of a header of up to ${MAX_AUTHORIZATION_LENGTH} characters`;
const BAD_REFS = `write 1 to ${MAX_PREFIXES} beginnings of names, each with refs/ at its front`;

/** The repository's address. */
export const RemoteUrl = z.string().max(MAX_URL_LENGTH, `it is longer than ${MAX_URL_LENGTH} characters`);

/** What signs in there: the header `Authorization`; null: nothing. */
export const Authorization = z
  .string()
  .min(1, BAD_HEADER)
  .max(MAX_AUTHORIZATION_LENGTH, BAD_HEADER)
  .regex(HEADER_VALUE, BAD_HEADER)
  .nullable();

/** What the names of refs begin with. */
export const Prefixes = z
  .array(z.string().max(MAX_PREFIX_LENGTH, BAD_REFS).regex(PREFIX, BAD_REFS))
  .min(1, BAD_REFS)
  .max(MAX_PREFIXES, BAD_REFS);

const RemoteSettings = z.object({ url: RemoteUrl, authorization: Authorization, refs: Prefixes }).partial();

/** Settings of an import or a mirror, as far as they are given. */
interface GivenSettings {
  readonly url?: string;
  readonly authorization?: string | null;
  /** Byte strings. */
  readonly prefixes?: readonly string[];
}

/** Checks settings.
 * @throws GitError "invalid" with the field that is wrong */
export function checkRemoteSettings({ url, authorization, prefixes }: GivenSettings): void {
  const refs = prefixes?.map(decodeText);
  const { error } = RemoteSettings.safeParse({ url, authorization, refs });
  const issue = error?.issues[0];
  if (issue === undefined) return;
  const field = String(issue.path[0]);
  throw new GitError("invalid", { what: field, field, reason: issue.message });
}
