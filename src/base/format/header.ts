import { LF, SPACE, fromByteString, toByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import { MAX_CONTINUATION_LINES, MAX_EXTRA_HEADER_BYTES, MAX_EXTRA_HEADERS } from "./shown-limits.ts";
import { fromHex, isHexOid, type Oid } from "./oid.ts";
import { type Ident, parseIdent } from "./ident.ts";

/** Length limit of a quoted value in an error, in characters. */
const MAX_QUOTED = 200;

/** One header of a commit or tag. A value of several lines (`gpgsig`, `mergetag`) contains LFs,
 * but not the final one. */
export interface Header {
  /** Byte string without a space. */
  readonly name: string;
  /** Byte string. */
  readonly value: string;
}

/** Reads the headers of a commit or tag one by one, in the order that the type requires. Visits
 * only requested lines, because an object may have millions of header lines. */
export class HeaderReader {
  readonly #type: "commit" | "tag";
  readonly #content: Uint8Array;
  /** Offset of the blank line, or of the content's end. */
  readonly #end: number;
  readonly #isWhole: boolean;
  #at = 0;
  #linesLeft = MAX_CONTINUATION_LINES;
  /** The message after the blank line. A view of the content. */
  readonly body: Uint8Array;

  /** @param content the object's content
   * @param isWhole whether `content` is all of the object, rather than its first bytes
   * @throws GitError "corrupt-object" if it begins with a continuation line */
  constructor(type: "commit" | "tag", content: Uint8Array, isWhole = true) {
    this.#type = type;
    this.#content = content;
    this.#isWhole = isWhole;
    this.#end = findBlankLine(content);
    this.body = content.subarray(this.#end + 1);
    if (content[0] === SPACE) throw this.corrupt("it begins with a blank");
  }

  /** Whether the headers continue beyond the given bytes. */
  get isOpen(): boolean {
    return !this.#isWhole && this.#end === this.#content.length;
  }

  /** Whether headers are left to take. */
  get hasMore(): boolean {
    return this.#at < this.#end || this.isOpen;
  }

  /** Takes the next header if it has this name. */
  take(name: string): string | null {
    const start = this.#valueStart(name);
    const end = start === null ? null : this.#valueEnd(start);
    if (start === null || end === null) return null;
    this.#at = end + 1;
    return this.#text(start, end);
  }

  /** Takes the next headers, as long as they have this name.
   * @param most limit of the returned values
   * @returns the values, and the number of headers */
  takeEach(name: string, most: number): { values: string[]; count: number } {
    const values: string[] = [];
    for (let count = 0; ; count++) {
      const start = this.#valueStart(name);
      const end = start === null ? null : this.#valueEnd(start);
      if (start === null || end === null) return { values, count };
      if (count < most) values.push(this.#text(start, end));
      this.#at = end + 1;
    }
  }

  /** Takes the next header, which must have this name.
   * @throws GitError "corrupt-object" if it does not */
  demand(name: string): string {
    const value = this.take(name);
    if (value === null) throw this.corrupt(`it has no ${name} where one belongs`);
    return value;
  }

  /** Parses a value as an oid. Git and its fsck accept upper-case digits, though nobody writes
   * them.
   * @throws GitError "corrupt-object" */
  toOid(hex: string): Oid {
    const digits = hex.toLowerCase();
    if (!isHexOid(digits)) throw this.corrupt(`'${shorten(hex)}' is not an object id`);
    return fromHex(digits);
  }

  /** Parses a value as an identity.
   * @throws GitError "corrupt-object" */
  toIdent(line: string): Ident {
    const ident = parseIdent(line);
    if (ident === null) throw this.corrupt(`'${shorten(line)}' is not an identity`);
    return ident;
  }

  /** Takes the remaining headers, in order, within `MAX_EXTRA_HEADERS` and
   * `MAX_EXTRA_HEADER_BYTES`. */
  rest(): Header[] {
    const headers: Header[] = [];
    const last = this.#at + MAX_EXTRA_HEADER_BYTES;
    while (this.#at < this.#end && headers.length < MAX_EXTRA_HEADERS) {
      const end = this.#valueEnd(this.#at);
      if (end === null || end > last) break;
      const space = this.#content.subarray(this.#at, end).indexOf(SPACE);
      const lf = this.#content.subarray(this.#at, end).indexOf(LF);
      const isBare = space === -1 || (lf !== -1 && lf < space);
      const nameEnd = !isBare ? this.#at + space : lf === -1 ? end : this.#at + lf;
      headers.push({ name: this.#text(this.#at, nameEnd), value: this.#text(nameEnd + 1, end) });
      this.#at = end + 1;
    }
    return headers;
  }

  /** Makes an error about this object. */
  corrupt(reason: string): GitError {
    return new GitError("corrupt-object", { type: this.#type, reason });
  }

  /** Offset of the next header's value; null: the header has another name, or there is none. */
  #valueStart(name: string): number | null {
    const at = this.#at;
    for (let i = 0; i < name.length; i++) if (this.#content[at + i] !== name.charCodeAt(i)) return null;
    const after = at + name.length;
    if (after > this.#end) return null;
    if (this.#content[after] === SPACE) return after + 1;
    return after === this.#end || this.#content[after] === LF ? after : null;
  }

  /** Offset of a header's end, continuation lines included; null: it is beyond the given bytes,
   * or behind too many lines. */
  #valueEnd(start: number): number | null {
    let lf = this.#content.indexOf(LF, start);
    for (; lf !== -1 && lf + 1 < this.#end && this.#content[lf + 1] === SPACE; lf = this.#content.indexOf(LF, lf + 1)) {
      if (--this.#linesLeft < 0) return null;
    }
    if (lf === -1 && !this.#isWhole) return null;
    return lf === -1 ? this.#end : Math.min(lf, this.#end);
  }

  #text(start: number, end: number): string {
    return toByteString(this.#content.subarray(start, end)).replaceAll("\n ", "\n");
  }
}

/** Encodes a commit's or tag's content.
 * @param message bytes, appended unchanged after the blank line */
export function encodeHeaders(headers: readonly Header[], message: Uint8Array): Uint8Array {
  const lines = headers.map(({ name, value }) => `${name} ${value.replaceAll("\n", "\n ")}\n`);
  const head = fromByteString(`${lines.join("")}\n`);
  const content = new Uint8Array(head.length + message.length);
  content.set(head);
  content.set(message, head.length);
  return content;
}

/** Offset of the LF that is the blank line; without one, the content's end. */
export function findBlankLine(content: Uint8Array): number {
  if (content[0] === LF) return 0;
  const at = Buffer.from(content.buffer, content.byteOffset, content.length).indexOf("\n\n");
  return at === -1 ? content.length : at + 1;
}

/** Shortens a value for a message. */
function shorten(value: string): string {
  return value.length <= MAX_QUOTED ? value : `${value.slice(0, MAX_QUOTED)}…`;
}
