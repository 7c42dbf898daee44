import { LF, SPACE, fromByteString, toByteString } from "../../base/format/byte-string.ts";

/** Lines of a part of a patch, and its bytes: lines can be long. */
const PART_LINES = 5_000;
const PART_BYTES = 1024 * 1024;

const AT = 0x40;
const [PLUS, MINUS] = [0x2b, 0x2d];

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)/;

/** Bytes of a hunk's head that are read for its numbers. */
const HEAD_BYTES = 64;

/** Cuts whole lines out of one file's patch. A part that begins within a hunk gets a head with the
 * numbers of its first lines.
 * @param fromLine how many lines precede the part
 * @returns the part, where the next one begins (null: nowhere), and how many lines there are */
export function cutPatch(
  bytes: Uint8Array,
  fromLine: number,
): { part: Uint8Array; nextLine: number | null; lineCount: number } {
  let line = 0;
  let [old, next] = [0, 0];
  let [start, end, nextLine]: [number, number, number | null] = [-1, bytes.length, null];
  let head = "";
  for (let at = 0; at < bytes.length; line++) {
    const first = bytes[at];
    if (line === fromLine) {
      start = at;
      if (isOfHunk(first) && next + old > 0) head = `@@ -${old},0 +${next},0 @@\n`;
    } else if (start >= 0 && nextLine === null && (line - fromLine >= PART_LINES || at - start >= PART_BYTES)) {
      [end, nextLine] = [at, line];
    }
    if (first === AT) [old, next] = readHead(bytes, at);
    else if (isOfHunk(first)) {
      if (first !== PLUS) old++;
      if (first !== MINUS) next++;
    }
    const newline = bytes.indexOf(LF, at);
    at = newline < 0 ? bytes.length : newline + 1;
  }
  const part = start < 0 ? bytes.subarray(0, 0) : bytes.subarray(start, end);
  if (head === "") return { part, nextLine, lineCount: line };
  const headed = new Uint8Array(head.length + part.length);
  headed.set(fromByteString(head));
  headed.set(part, head.length);
  return { part: headed, nextLine, lineCount: line };
}

/** Lines before the first hunk begin with neither but for `---` and `+++`, which count for
 * nothing: the hunk's head has the numbers. */
function isOfHunk(first: number | undefined): boolean {
  return first === SPACE || first === PLUS || first === MINUS;
}

function readHead(bytes: Uint8Array, at: number): [old: number, next: number] {
  const [, old, next] = HUNK.exec(toByteString(bytes.subarray(at, at + HEAD_BYTES))) ?? [];
  return [Number(old ?? 0), Number(next ?? 0)];
}
