import { type ByteRange, parseRange } from "./byte-range.ts";

/** What a request's conditions come to.
 * @param etag strong, with its quotes, of what there is
 * @returns the status that a condition ends the request with, null when it goes on
 * @see RFC 9110, section 13.2.2 */
export function checkConditions(headers: Headers, etag: string): 304 | 412 | null {
  const ifMatch = headers.get("If-Match");
  if (ifMatch !== null && !names(ifMatch, etag)) return 412;
  const ifNoneMatch = headers.get("If-None-Match");
  // Here, and only here, a weak validator does too.
  if (ifNoneMatch !== null && names(ifNoneMatch.replaceAll('W/"', '"'), etag)) return 304;
  return null;
}

/** The range that is to be sent: to a GET whose `If-Range` is absent or names these very bytes; a date never does, none is ever shown.
 * @param etag strong, with its quotes
 * @returns as `parseRange` */
export function wantedRange(
  { method, headers }: Pick<Request, "method" | "headers">,
  etag: string,
  sizeBytes: number,
): ByteRange | "unsatisfiable" | null {
  const ifRange = headers.get("If-Range");
  const isWanted = method === "GET" && (ifRange === null || ifRange === etag);
  return isWanted ? parseRange(headers.get("Range"), sizeBytes) : null;
}

/** Whether a list of entity tags has this one. Ours have neither comma nor space in them. */
function names(list: string, etag: string): boolean {
  return list.trim() === "*" || list.split(",").some((item) => item.trim() === etag);
}
