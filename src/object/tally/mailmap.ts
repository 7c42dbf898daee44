import { trimBlanksEnd } from "../../base/format/ident.ts";
import type { Author } from "../store/graph/author-table.ts";

/** What replaces a name and an email; undefined: unchanged. */
interface Replacement {
  name?: string;
  email?: string;
}

/** The replacements for one email. */
interface Replacements {
  readonly any: Replacement;
  /** Only for commits with that name, in lower case. */
  readonly byName: Map<string, Replacement>;
}

/** A `.mailmap`: replaces the names and emails of authors.
 * @see gitmailmap(5), git's mailmap.c */
export class Mailmap {
  /** By email, in lower case. */
  readonly #byEmail = new Map<string, Replacements>();

  /** Reads a mailmap as leniently as git does: a line without an email is ignored.
   * @param text byte string */
  constructor(text: string) {
    // git reads it as a C string.
    for (const line of text.split("\0", 1)[0]!.split("\n")) {
      if (!line.startsWith("#")) this.#addLine(line);
    }
  }

  /** The name and email to use for an author. */
  map(author: Author): Author {
    const replacements = this.#byEmail.get(toLower(author.email));
    const { name, email } = replacements?.byName.get(toLower(author.name)) ?? replacements?.any ?? {};
    return { name: name ?? author.name, email: email ?? author.email };
  }

  /** `Name <email>`, `<new> <old>`, `Name <new> <old>`, or `Name <new> Old Name <old>`. */
  #addLine(line: string): void {
    const first = parsePerson(line, false);
    if (first === null) return;
    const second = parsePerson(first.rest, true);
    const email = toLower(second === null ? first.email : second.email);
    let replacements = this.#byEmail.get(email);
    if (replacements === undefined) this.#byEmail.set(email, (replacements = { any: {}, byName: new Map() }));
    const replacement = {
      ...(first.name !== null && { name: first.name }),
      ...(second !== null && { email: first.email }),
    };
    // Of several lines for a name the last one counts. Lines for any name complement each other.
    if (second !== null && second.name !== null) replacements.byName.set(toLower(second.name), replacement);
    else Object.assign(replacements.any, replacement);
  }
}

/** @returns null when there is no email */
function parsePerson(
  text: string,
  allowsEmptyEmail: boolean,
): { name: string | null; email: string; rest: string } | null {
  const left = text.indexOf("<");
  const right = text.indexOf(">", left + 1);
  if (left < 0 || right < 0 || (right === left + 1 && !allowsEmptyEmail)) return null;
  const name = trimBlanksEnd(text.slice(0, left)).replace(/^[ \t\r]+/, "");
  return { name: name === "" ? null : name, email: text.slice(left + 1, right), rest: text.slice(right + 1) };
}

/** Only ASCII letters have a case here: the rest is bytes. */
function toLower(byteString: string): string {
  return byteString.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
