/** Characters that need quoting in a path: control characters, quotes, backslashes, anything
 * outside ASCII. */
// oxlint-disable-next-line no-control-regex -- those are what is looked for.
const SPECIAL = /[\x00-\x1f"\\\x7f-\xff]/;
// oxlint-disable-next-line no-control-regex -- as above.
const EACH_SPECIAL = /[\x00-\x1f"\\\x7f-\xff]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  '"': '\\"',
  "\\": "\\\\",
};

/** A path as patches show it: in double quotes with C escapes where it needs them.
 * @param path byte string
 * @see git-config(1) core.quotePath */
export function quotePath(path: string): string {
  if (!SPECIAL.test(path)) return path;
  const escaped = path.replace(
    EACH_SPECIAL,
    (char) => ESCAPES[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
  return `"${escaped}"`;
}
