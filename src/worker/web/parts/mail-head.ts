// A commit as a mail for `git am`: the part that `git format-patch` writes before the patch. Text
// is in byte strings of UTF-8. @see git's pretty.c
import { encodeText } from "../../../base/format/byte-string.ts";
import type { CommitRecord } from "../../../contract/commits.ts";

/** Maximum length of a header's line, and of one with encoded words (RFC 2047). */
const MAX_LINE = 78;
const MAX_ENCODED_LINE = 76;

const WORD_START = "=?UTF-8?q?";

// oxlint-disable-next-line no-control-regex -- the range is all of ASCII.
const NOT_ASCII = /[^\x00-\x7f]/;

const MUST_BE_QUOTED = /[()<>[\]:;@,."\\]/;

/** A character of UTF-8 in a byte string; a stray byte is a character of its own. */
const CHARS = /[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3}|[^]/g;

const UNPRINTABLE_IN_SUBJECT = /[^!-~]|[=?_]/;
const UNPRINTABLE_IN_NAME = /[^A-Za-z0-9!*+/-]/;

/** Writes a commit's header and message as a mail, up to the blank line before the patch.
 * @returns byte string */
export function formatMail({ oid, author, message }: Pick<CommitRecord, "oid" | "author" | "message">): string {
  const lines = encodeText(message).replace(/^\n+/, "").split("\n").map(trimEnd);
  const blank = lines.indexOf("");
  const subject = lines.slice(0, blank < 0 ? lines.length : blank).join(" ");
  const body = blank < 0 ? "" : lines.slice(blank).join("\n").replace(/^\n+/, "").replace(/\s+$/, "");
  const isAscii = !NOT_ASCII.test(message);
  return [
    `From ${oid} Mon Sep 17 00:00:00 2001\n`,
    formatFrom(encodeText(author.name), encodeText(author.email)),
    `Date: ${formatDate(author.date)}\n`,
    formatSubject(subject),
    isAscii ? "" : "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n",
    "\n",
    body === "" ? "" : `${body}\n`,
    "\n",
  ].join("");
}

function formatFrom(name: string, email: string): string {
  const start = "From: ";
  const isEncoded = mustBeEncoded(name);
  const line = isEncoded
    ? encodeWords(start, name, UNPRINTABLE_IN_NAME)
    : wrap(start, MUST_BE_QUOTED.test(name) ? `"${name.replace(/["\\]/g, "\\$&")}"` : name);
  const lastLength = line.length - (line.lastIndexOf("\n") + 1);
  const fits = lastLength + email.length + 3 <= (isEncoded ? MAX_ENCODED_LINE : MAX_LINE);
  return `${line}${fits ? "" : "\n"} <${email}>\n`;
}

function formatSubject(subject: string): string {
  const start = "Subject: [PATCH] ";
  return `${mustBeEncoded(subject) ? encodeWords(start, subject, UNPRINTABLE_IN_SUBJECT) : wrap(start, subject)}\n`;
}

function mustBeEncoded(text: string): boolean {
  return NOT_ASCII.test(text) || text.includes("=?");
}

/** Encodes a text in words that fit into lines.
 * @param start of the first line */
function encodeWords(start: string, text: string, special: RegExp): string {
  let result = start + WORD_START;
  let length = result.length;
  for (const [char] of text.matchAll(CHARS)) {
    const encoded = special.test(char)
      ? Array.from(char, (byte) => `=${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`).join("")
      : char;
    if (length + encoded.length + 2 > MAX_ENCODED_LINE) {
      result += `?=\n ${WORD_START}`;
      length = WORD_START.length + 1;
    }
    result += encoded;
    length += encoded.length;
  }
  return `${result}?=`;
}

/** Breaks a header's line before the word that exceeds it.
 * @see git's utf8.c: strbuf_add_wrapped_text() */
function wrap(start: string, text: string): string {
  let line = start;
  let result = "";
  for (const word of text.split(/(?=[ \t])/)) {
    if (line.length + word.length > MAX_LINE) {
      result += `${line}\n`;
      line = ` ${word.replace(/^[ \t]/, "")}`;
    } else line += word;
  }
  return result + line;
}

/** Formats a date as in RFC 2822: `Mon, 23 Nov 2026 09:18:15 +0000`.
 * @param iso ISO 8601; its offset from UTC is kept */
function formatDate(iso: string): string {
  const local = new Date(`${iso.slice(0, 19)}Z`).toUTCString();
  const [, weekday, day, rest] = /^(\w+), 0?(\d+) (.*) GMT$/.exec(local)!;
  return `${weekday}, ${day} ${rest} ${iso.slice(19).replace(":", "")}`;
}

function trimEnd(line: string): string {
  return line.replace(/[ \t\r]+$/, "");
}
