import { answerBytes } from "../../base/format/conditional-request.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { errorResponse, textResponse } from "../../base/http/error-response.ts";

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
  const { key, sizeBytes, cacheControl } = file;
  const answer = answerBytes(request, { etag: `"${file.etag}"`, sizeBytes, cacheControl });
  switch (answer.kind) {
    case "unchanged":
      return new Response(null, { status: 304, headers: answer.headers });
    case "precondition-failed":
      return textResponse(412, "the file is not the one that the request expects");
    case "unsatisfiable":
      return textResponse(416, `there are ${sizeBytes} bytes`, answer.headers);
    case "bytes":
  }
  const { status, headers, range } = answer;
  headers.set("Content-Type", file.contentType);
  try {
    const body = method === "HEAD" ? null : await chunks.open(key, range.start, range.length);
    return new Response(body, { status, headers });
  } catch (error) {
    return errorResponse(error);
  }
}
