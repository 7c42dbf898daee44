// Text from repositories, for people. Characters that are invisible, or that change how the
// surrounding text reads, are written out, so that no change can hide behind them.
import type { Child } from "hono/jsx";
import { decodeText } from "../../../base/format/byte-string.ts";

/** Control characters except tab and newline, and characters that reorder text or have no width.
 * Characters that join or mark letters stay: emoji, Persian and Hebrew need them.
 * @see https://trojansource.codes */
// oxlint-disable-next-line no-control-regex -- control characters are made visible here.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff]/g;

const LINE_BREAKS = /[\t\n]/g;

/** First of Unicode's pictures of control characters. */
const PICTURES = 0x2400;
const PICTURE_OF_DELETE = 0x2421;

/** Text of several lines, with hidden characters written out. Lines may end in CR LF. */
export function visibleText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, writeOut);
}

/** Text of one line, with hidden characters written out. */
export function visibleLine(text: string): string {
  return visibleText(text).replace(LINE_BREAKS, writeOut);
}

/** A name or path from a repository.
 * @param name byte string */
export function visibleName(name: string): string {
  return visibleLine(decodeText(name));
}

/** Maximum length of a first line shown as a title, in characters. */
const MAX_SUBJECT = 500;

/** Returns the first line of a commit's message, or its beginning. */
export function subjectOf(message: string): string {
  const line = firstLine(message);
  return visibleLine(line.length <= MAX_SUBJECT ? line : `${line.slice(0, MAX_SUBJECT)}…`);
}

/** Returns the text after the subject; the whole message, if its first line is too long for a
 * subject. */
export function bodyOf(message: string): string {
  const line = firstLine(message);
  return line.length > MAX_SUBJECT ? message.trimEnd() : message.slice(line.length).replace(/^\n+/, "").trimEnd();
}

function firstLine(message: string): string {
  const end = message.indexOf("\n");
  return end < 0 ? message : message.slice(0, end);
}

function writeOut(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(PICTURES + code);
  if (code === 0x7f) return String.fromCharCode(PICTURE_OF_DELETE);
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** Shortens an object id for lists. */
export function shortId(oid: string): string {
  return oid.slice(0, 8);
}

/** Renders markup as text, for content that is sent in pieces.
 * @throws TypeError for markup that is asynchronous */
export function toHtml(element: Child): string {
  const html = (element as { toString(): unknown }).toString();
  if (typeof html !== "string") throw new TypeError("this markup is not there at once");
  return html;
}
