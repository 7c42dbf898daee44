import { checkConditions, wantedRange } from "../format/conditional-request.ts";
import type { ChunkStore } from "../store/chunks/chunk-store.ts";
import { errorResponse, textResponse } from "./error-response.ts";

/** A stored object, as HTTP serves it. */
export interface StoredFile {
  readonly key: string;
  readonly sizeBytes: number;
  /** The strong ETag, without its quotes. */
  readonly etag: string;
  readonly contentType: string;
  readonly cacheControl: string;
}

/** Answers `GET` and `HEAD` for immutable bytes, with ranges and conditions. The body is the
 * store's own stream: no code runs per piece.
 * @see RFC 9110, sections 13 and 14 */
export async function storedResponse(request: Request, file: StoredFile, chunks: ChunkStore): Promise<Response> {
  const { method } = request;
  if (method !== "GET" && method !== "HEAD") return textResponse(405, "read only", { Allow: "GET, HEAD" });
  const etag = `"${file.etag}"`;
  const shown = { ETag: etag, "Cache-Control": file.cacheControl, "Accept-Ranges": "bytes" };
  const refusal = checkConditions(request.headers, etag);
  if (refusal === 304) return new Response(null, { status: 304, headers: shown });
  if (refusal === 412) return textResponse(412, "the file is not the one that the request expects");
  const range = wantedRange(request, etag, file.sizeBytes);
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
