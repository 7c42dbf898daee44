/** Evaluates a request's conditions.
 * @param etag the current strong entity tag, with its quotes
 * @returns the status that ends the request; null: the request proceeds
 * @see RFC 9110, section 13.2.2 */
export function checkConditions(headers: Headers, etag: string): 304 | 412 | null {
  const ifMatch = headers.get("If-Match");
  if (ifMatch !== null && !names(ifMatch, etag)) return 412;
  const ifNoneMatch = headers.get("If-None-Match");
  // If-None-Match also accepts weak validators.
  if (ifNoneMatch !== null && names(ifNoneMatch.replaceAll('W/"', '"'), etag)) return 304;
  return null;
}

/** Bytes to serve over HTTP. */
interface ShownBytes {
  /** Strong entity tag, with its quotes. */
  readonly etag: string;
  readonly sizeBytes: number;
  readonly cacheControl: string;
}

/** The response to a request for bytes, with ranges and conditions. */
type BytesAnswer =
  | { readonly kind: "unchanged"; readonly headers: Headers }
  /** The precondition failed: the stored bytes are not those that the client expects. */
  | { readonly kind: "precondition-failed" }
  /** The range contains none of the bytes. */
  | { readonly kind: "unsatisfiable"; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "bytes"; readonly status: 200 | 206; readonly headers: Headers; readonly range: ByteRange };

/** Chooses the response to a GET or HEAD for bytes.
 * @see RFC 9110, sections 13 and 14 */
export function answerBytes(
  request: Pick<Request, "method" | "headers">,
  { etag, sizeBytes, cacheControl }: ShownBytes,
): BytesAnswer {
  const headers = new Headers({ ETag: etag, "Cache-Control": cacheControl, "Accept-Ranges": "bytes" });
  const refusal = checkConditions(request.headers, etag);
  if (refusal === 304) return { kind: "unchanged", headers };
  if (refusal === 412) return { kind: "precondition-failed" };
  const wanted = wantedRange(request, etag, sizeBytes);
  if (wanted === "unsatisfiable")
    return { kind: "unsatisfiable", headers: { "Content-Range": `bytes */${sizeBytes}` } };
  const range = wanted ?? { start: 0, length: sizeBytes };
  headers.set("Content-Length", String(range.length));
  if (wanted === null) return { kind: "bytes", status: 200, headers, range };
  headers.set("Content-Range", `bytes ${range.start}-${range.start + range.length - 1}/${sizeBytes}`);
  return { kind: "bytes", status: 206, headers, range };
}

/** Finds the range to send, which exists only for a GET whose `If-Range` is absent or matches. A
 * date never matches, since no date is ever sent.
 * @param etag strong, with its quotes
 * @returns as `parseRange` */
function wantedRange(
  { method, headers }: Pick<Request, "method" | "headers">,
  etag: string,
  sizeBytes: number,
): ByteRange | "unsatisfiable" | null {
  const ifRange = headers.get("If-Range");
  const isWanted = method === "GET" && (ifRange === null || ifRange === etag);
  return isWanted ? parseRange(headers.get("Range"), sizeBytes) : null;
}

/** Whether a list of entity tags contains a tag. Tags of this server contain no comma or space. */
function names(list: string, etag: string): boolean {
  return list.trim() === "*" || list.split(",").some((item) => item.trim() === etag);
}

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
