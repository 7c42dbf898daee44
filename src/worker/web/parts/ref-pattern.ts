import { MAX_PATTERN_BYTES } from "../../../base/access/ref-rules.ts";
import { encodeText } from "../../../base/format/byte-string.ts";

// oxlint-disable-next-line no-control-regex -- control characters are refused here.
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Finds the fault of a pattern for full ref names; null: none. @param pattern text */
export function patternFault(pattern: string): string | null {
  if (!pattern.startsWith("refs/")) return "It begins with refs/, such as refs/heads/main.";
  if (CONTROL.test(pattern)) return "It has control characters.";
  return encodeText(pattern).length > MAX_PATTERN_BYTES ? `At most ${MAX_PATTERN_BYTES} bytes.` : null;
}
