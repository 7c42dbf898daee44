import { encodeText, toByteString } from "../../format/byte-string.ts";
import { findBlankLine } from "../../format/header.ts";
import { parseIdent } from "../../format/ident.ts";
import type { AuthoredCommit } from "../../store/graph/author-table.ts";

/** Names and emails are cut at this many bytes. No real one is longer. */
const MAX_NAME_BYTES = 255;

/** Labels that the platform's decoder maps to windows-1252, but iconv to what they say. */
const LATIN1 = /^(?:iso[-_]?8859[-_]1(?::1987)?|latin-?1|l1|cp819|ibm819|iso-ir-100|csisolatin1)$/i;
const ASCII = /^(?:us-ascii|ascii|ansi_x3\.4-1968)$/i;
const UTF8 = /^utf-?8$/i;

/** Reads who wrote a commit and when, as `git log` shows it: in UTF-8 whatever the header
 * `encoding` says. It never fails: text that cannot be converted stays as it is, and a missing
 * author has an empty name.
 * @param content of the commit
 * @see git's pretty.c: repo_logmsg_reencode(), format_person_part() */
export function readAuthor(content: Uint8Array): Omit<AuthoredCommit, "number"> {
  const headers = toByteString(content.subarray(0, findBlankLine(content)));
  const encoding = /^encoding (.*)$/m.exec(headers)?.[1] ?? "UTF-8";
  const isPlain = UTF8.test(encoding) || ASCII.test(encoding);
  const line = authorLine(isPlain ? headers : (recode(content, encoding) ?? headers));
  const ident = parseIdent(line);
  return {
    author: {
      name: ident?.name.slice(0, MAX_NAME_BYTES) ?? "",
      email: ident?.email.slice(0, MAX_NAME_BYTES) ?? "",
    },
    time: ident?.timeSeconds ?? 0,
    zone: parseZone(ident?.zone ?? "+0000"),
  };
}

/** Minutes east of UTC.
 * @param zone sign and digits; the last two are minutes */
function parseZone(zone: string): number {
  const digits = Math.min(Number(zone.slice(1)), 0x7fffffff);
  const minutes = Math.floor(digits / 100) * 60 + (digits % 100);
  return zone.startsWith("-") ? -minutes : minutes;
}

/** The text after "author " in the headers, up to a NUL. */
function authorLine(headers: string): string {
  return /^author ([^\n\0]*)/m.exec(headers)?.[1] ?? "";
}

/** Converts a commit to UTF-8 as a whole: if any part cannot be converted, git leaves all of it
 * unchanged.
 * @returns null then, or when the encoding is unknown */
function recode(content: Uint8Array, encoding: string): string | null {
  // Its 256 characters are Unicode's first.
  if (LATIN1.test(encoding)) return encodeText(toByteString(content));
  try {
    return encodeText(new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content));
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}
