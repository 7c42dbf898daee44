/** Bytes of a representation: the first, and how many. */
export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

/** Reads a `Range` header.
 * @returns the one range that it asks for; "unsatisfiable" when no byte is in it; null when everything is to be sent: without the
 * header, and for what need not be understood (other units, several ranges, bad syntax)
 * @see RFC 9110, sections 14.1 and 14.2 */
export function parseRange(header: string | null, sizeBytes: number): ByteRange | "unsatisfiable" | null {
  const [, first, last] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return null;
  if (first === "") {
    const length = Math.min(Number(last), sizeBytes);
    return length === 0 ? "unsatisfiable" : { start: sizeBytes - length, length };
  }
  const start = Number(first);
  const end = last === "" ? sizeBytes : Math.min(Number(last) + 1, sizeBytes);
  if (last !== "" && Number(last) < start) return null;
  return start >= sizeBytes ? "unsatisfiable" : { start, length: end - start };
}
