/** A range of bytes: offset and length. */
export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

/** Parses a `Range` header.
 * @returns the requested range; "unsatisfiable" when it contains no byte; null when everything must
 * be sent: without the header, and for headers that a server may ignore (other units, several
 * ranges, bad syntax)
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
