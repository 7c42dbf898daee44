/** Response header that lists the possible meanings of an ambiguous name in the request. */
export const AMBIGUITY_HEADER = "Holdfast-Ambiguous";

/** Byte limit of the header's value: some clients accept no more than 16 KB of headers. */
const MAX_VALUE_BYTES = 8_000;

/** Lists the meanings of ambiguous names: `refs/heads/main, refs/tags/main`, with a semicolon
 * before the next name's. Characters other than letters, digits, slashes and `-._~` are
 * percent-encoded. A list that is too long ends in `...`.
 * @param ambiguities the meanings of each, byte strings */
export function showAmbiguities(ambiguities: readonly (readonly string[])[]): string {
  const shown = new Set(ambiguities.map((meanings) => meanings.map(encodeName).join(", ")));
  const value = [...shown].join("; ");
  return value.length <= MAX_VALUE_BYTES ? value : `${value.slice(0, MAX_VALUE_BYTES)}...`;
}

/** @param name byte string */
function encodeName(name: string): string {
  return name.replace(/[^\w/.~-]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
