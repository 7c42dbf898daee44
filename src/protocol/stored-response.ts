import type { ChunkStore } from "../store/chunk-store.ts";
import { parseRange } from "./byte-range.ts";
import { errorResponse, textResponse } from "./error-response.ts";

/** An object of the chunk store as HTTP shows it. */
export interface StoredFile {
  readonly key: string;
  readonly sizeBytes: number;
  /** What its strong ETag says between the quotes. */
  readonly etag: string;
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Answers `GET` and `HEAD` for immutable bytes, whole or a range of them, under conditions or not. The bytes are the store's own
 * stream: no code runs per piece.
 * @see RFC 9110, sections 13 and 14 */
export async function storedResponse(request: Request, file: StoredFile, chunks: ChunkStore): Promise<Response> {
  const { method } = request;
  if (method !== "GET" && method !== "HEAD") return textResponse(405, "read only", { Allow: "GET, HEAD" });
  const etag = `"${file.etag}"`;
  const shown = { ETag: etag, "Cache-Control": file.cacheControl, "Accept-Ranges": "bytes" };
  const refusal = checkConditions(request.headers, etag);
  if (refusal === 304) return new Response(null, { status: 304, headers: shown });
  if (refusal === 412) return textResponse(412, "it is another than expected");
  const range = isRangeWanted(request, etag) ? parseRange(request.headers.get("Range"), file.sizeBytes) : null;
  if (range === "unsatisfiable") {
    return textResponse(416, `there are ${file.sizeBytes} bytes`, { "Content-Range": `bytes */${file.sizeBytes}` });
  }
  const { start, length } = range ?? { start: 0, length: file.sizeBytes };
  const headers = new Headers({ ...shown, "Content-Type": file.contentType, "Content-Length": String(length) });
  if (range !== null) headers.set("Content-Range", `bytes ${start}-${start + length - 1}/${file.sizeBytes}`);
  try {
    const body = method === "HEAD" ? null : await chunks.open(file.key, start, length);
    return new Response(body, { status: range === null ? 200 : 206, headers });
  } catch (error) {
    return errorResponse(error);
  }
}

/** @returns the status that a condition ends the request with, null when it goes on */
function checkConditions(headers: Headers, etag: string): 304 | 412 | null {
  const ifMatch = headers.get("If-Match");
  if (ifMatch !== null && !names(ifMatch, etag)) return 412;
  const ifNoneMatch = headers.get("If-None-Match");
  // Here, and only here, a weak validator does too.
  if (ifNoneMatch !== null && names(ifNoneMatch.replaceAll('W/"', '"'), etag)) return 304;
  return null;
}

/** A range is sent to a GET whose `If-Range` is absent or names these very bytes; a date never does, none is ever shown. */
function isRangeWanted({ method, headers }: Request, etag: string): boolean {
  const ifRange = headers.get("If-Range");
  return method === "GET" && (ifRange === null || ifRange === etag);
}

/** Whether a list of entity tags has this one. Ours has neither comma nor space in it. */
function names(list: string, etag: string): boolean {
  return list.trim() === "*" || list.split(",").some((item) => item.trim() === etag);
}
