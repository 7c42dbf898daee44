/** A submodule that a `.gitmodules` file describes. Byte strings. */
interface Submodule {
  readonly path: string;
  readonly url: string;
}

/** The head of a submodule's section. The quoted text is the name. */
const SECTION = /^\[submodule "(?:[^"\\]|\\.)*"\]/i;

/** A variable: its name, and the rest of its line. */
const VARIABLE = /^([a-z][a-z0-9-]*)[ \t]*=[ \t]*(.*)$/i;

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"' };

/** Reads a `.gitmodules` file. Skips malformed parts: pushes were checked as git checks them, and a
 * page shows the rest.
 * @param text byte string
 * @returns submodules with a path and a URL, in their order
 * @see gitmodules(5), git-config(1) "Syntax" */
export function parseGitmodules(text: string): Submodule[] {
  const found: Submodule[] = [];
  let section: { path?: string; url?: string } | null = null;
  const close = (): void => {
    if (section?.path !== undefined && section.url !== undefined) found.push({ path: section.path, url: section.url });
  };
  // A backslash at a line's end continues it.
  for (const line of text.replaceAll(/\\\r?\n/g, "").split("\n")) {
    let rest = line.trim();
    if (rest.startsWith("[")) {
      close();
      const [head] = SECTION.exec(rest) ?? [];
      section = head === undefined ? null : {};
      rest = head === undefined ? "" : rest.slice(head.length).trim();
    }
    const [, name, value] = VARIABLE.exec(rest) ?? [];
    if (section === null || name === undefined) continue;
    const key = name.toLowerCase();
    // The last of several values counts.
    if (key === "path" || key === "url") section[key] = readValue(value!);
  }
  close();
  return found;
}

/** Removes a value's quotes, escapes and comment. */
function readValue(text: string): string {
  let value = "";
  /** The length up to the last char that is not whitespace outside of quotes. */
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (char === "#" || char === ";")) break;
    else if (char === "\\") value += ESCAPES[text[++at] ?? ""] ?? "";
    else value += char;
    if (isQuoted || (char !== " " && char !== "\t")) kept = value.length;
  }
  return value.slice(0, kept);
}
