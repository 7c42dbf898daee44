import { LF, toByteString } from "../../base/format/byte-string.ts";
import { findBlankLine } from "../../base/format/header.ts";
import { parseIdent } from "../../base/format/ident.ts";
import type { AuthoredCommit } from "../store/graph/author-table.ts";

/** Names and emails are cut at this many bytes. No real one is longer. */
const MAX_NAME_BYTES = 255;

/** Bytes of a line beyond which name and email are shortened before they are parsed. */
const MAX_LINE_BYTES = 12 * 1024;

/** Labels that the platform's decoder maps to windows-1252, but iconv to what they say. */
const LATIN1 = /^(?:iso[-_]?8859[-_]1(?::1987)?|latin-?1|l1|cp819|ibm819|iso-ir-100|csisolatin1)$/i;
const ASCII = /^(?:us-ascii|ascii|ansi_x3\.4-1968)$/i;
const UTF8 = /^utf-?8$/i;

/** Reads who wrote a commit and when, as `git log` shows it: in UTF-8 whatever the header
 * `encoding` says. It never fails: text that cannot be converted stays as it is, and a missing
 * author has an empty name.
 * @param content of the commit, or its beginning: then an encoding that is written behind it does
 * not count
 * @see git's pretty.c: repo_logmsg_reencode(), format_person_part() */
export function readAuthor(content: Uint8Array): Omit<AuthoredCommit, "number"> {
  const encoding = headerOf(content, "encoding")?.slice(0, MAX_NAME_BYTES) ?? "UTF-8";
  const isPlain = UTF8.test(encoding) || ASCII.test(encoding);
  const recoded = isPlain ? null : recode(content, encoding);
  const line = headerOf(recoded ?? content, "author")?.split("\0", 1)[0] ?? "";
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

/** Whether the first bytes of a commit tell its author: they have the whole line, and name no
 * encoding, by which git converts all of a commit or nothing. */
export function namesAuthor(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  const start = bytes.indexOf("\nauthor ");
  return start !== -1 && bytes.indexOf(LF, start + 1) !== -1 && !bytes.includes("\nencoding ");
}

/** Minutes east of UTC.
 * @param zone sign and digits; the last two are minutes */
function parseZone(zone: string): number {
  const digits = Math.min(Number(zone.slice(1)), 0x7fffffff);
  const minutes = Math.floor(digits / 100) * 60 + (digits % 100);
  return zone.startsWith("-") ? -minutes : minutes;
}

/** The value of a header's first line, as far as it matters of an identity that is very long; null:
 * there is none. */
function headerOf(content: Uint8Array, name: string): string | null {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const end = findBlankLine(content);
  const start = bytes.indexOf(`\n${name} `) + name.length + 2;
  if (start < name.length + 2 || start > end) return null;
  const lf = bytes.indexOf(LF, start);
  return shorten(bytes.subarray(start, lf === -1 ? end : lf));
}

/** Shortens name and email of an identity's line, so that what is shown of them stays. */
function shorten(line: Buffer): string {
  if (line.length <= MAX_LINE_BYTES) return toByteString(line);
  const [open, last] = [line.indexOf("<"), line.lastIndexOf(">")];
  const close = open === -1 ? -1 : line.indexOf(">", open);
  if (close === -1) return toByteString(line.subarray(0, MAX_LINE_BYTES));
  const parts = [line.subarray(0, open), line.subarray(open, close), line.subarray(last)];
  return parts.map((part) => toByteString(part.subarray(0, MAX_LINE_BYTES / parts.length))).join("");
}

/** Converts a commit to UTF-8 as a whole: if any part cannot be converted, git leaves all of it
 * unchanged.
 * @returns null then, or when the encoding is unknown */
function recode(content: Uint8Array, encoding: string): Uint8Array | null {
  // Its 256 characters are Unicode's first.
  if (LATIN1.test(encoding)) return Buffer.from(toByteString(content));
  try {
    return Buffer.from(new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content));
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
}
