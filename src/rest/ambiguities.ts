import type { Ambiguities } from "../repository/calls.ts";

/** The header by which an answer tells that a name in the request stands for several things. */
export const AMBIGUITY_HEADER = "Holdfast-Ambiguous";

/** Bytes of its value: some clients take no more than 16 KB of headers. */
const MAX_VALUE_BYTES = 8_000;

/** Shows what ambiguous names stand for: `refs/heads/main, refs/tags/main`, and behind a semicolon the next name's. What is no letter, digit,
 * slash or `-._~` is percent-encoded; what is too much ends in `...`. */
export function showAmbiguities(ambiguities: Ambiguities): string {
  const shown = new Set(ambiguities.map((meanings) => meanings.map(encodeName).join(", ")));
  const value = [...shown].join("; ");
  return value.length <= MAX_VALUE_BYTES ? value : `${value.slice(0, MAX_VALUE_BYTES)}...`;
}

/** @param name byte string */
function encodeName(name: string): string {
  return name.replace(/[^\w/.~-]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
