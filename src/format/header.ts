import { LF } from "./ascii.ts";
import { fromByteString, toByteString } from "./byte-string.ts";
import { GitError } from "./errors.ts";
import { fromHex, isHexOid, type Oid } from "./oid.ts";
import { type Ident, parseIdent } from "./ident.ts";

/** One header of a commit or tag. A value of several lines (`gpgsig`, `mergetag`) contains LFs, but
 * not the one that ends the header. */
export interface Header {
  /** Byte string without a space. */
  readonly name: string;
  /** Byte string. */
  readonly value: string;
}

/** Reads the headers of a commit or tag one by one, in the order that the type requires. */
export class HeaderReader {
  readonly #type: "commit" | "tag";
  readonly #headers: Header[];
  #next = 0;
  /** The message after the blank line. A view of the content. */
  readonly body: Uint8Array;

  /** @param content of the object
   * @throws GitError "corrupt-object" if it begins with a continuation line */
  constructor(type: "commit" | "tag", content: Uint8Array) {
    this.#type = type;
    const headersEnd = findBlankLine(content);
    this.#headers = splitHeaders(toByteString(content.subarray(0, headersEnd)));
    this.body = content.subarray(headersEnd + 1);
    if (this.#headers[0]?.name === "") throw this.corrupt("it begins with a blank");
  }

  /** Takes the next header if it has this name. */
  take(name: string): string | null {
    const header = this.#headers[this.#next];
    if (header?.name !== name) return null;
    this.#next++;
    return header.value;
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
    if (!isHexOid(digits)) throw this.corrupt(`'${hex}' is not an object id`);
    return fromHex(digits);
  }

  /** Parses a value as an identity.
   * @throws GitError "corrupt-object" */
  toIdent(line: string): Ident {
    const ident = parseIdent(line);
    if (ident === null) throw this.corrupt(`'${line}' is not an identity`);
    return ident;
  }

  /** The remaining headers, in order. */
  rest(): Header[] {
    return this.#headers.slice(this.#next);
  }

  /** An error about this object. */
  corrupt(reason: string): GitError {
    return new GitError("corrupt-object", { type: this.#type, reason });
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

/** Offset of the LF that is the blank line; the content's end if there is none. */
export function findBlankLine(content: Uint8Array): number {
  if (content[0] === LF) return 0;
  for (let lf = content.indexOf(LF); lf !== -1; lf = content.indexOf(LF, lf + 1)) {
    if (content[lf + 1] === LF) return lf + 1;
  }
  return content.length;
}

function splitHeaders(block: string): Header[] {
  const lines = (block.endsWith("\n") ? block.slice(0, -1) : block).split(/\n(?! )/);
  return lines.map((line) => {
    const space = line.indexOf(" ");
    const name = space === -1 ? line : line.slice(0, space);
    return { name, value: line.slice(name.length + 1).replaceAll("\n ", "\n") };
  });
}
