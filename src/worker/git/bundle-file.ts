import { toHex } from "../../base/format/oid.ts";
import { answerBytes } from "../../base/format/conditional-request.ts";
import type { StoredBundle } from "../../contract/fetch.ts";
import type { ChunkStore } from "../../base/chunks/chunk-store.ts";
import { textResponse, errorResponse } from "../../base/http/error-response.ts";
import { type FetchContext, unknownRepositoryResponse } from "./fetch-context.ts";

/** A bundle's file name in its URL. A name always means the same bytes, so caches may keep them
 * forever. */
export function bundleName({ token, checksum }: StoredBundle): string {
  return `${token}-${toHex(checksum)}.bundle`;
}

/** Answers `GET …/bundles/<name>` for an authorised caller.
 * @param visibility whether shared caches may keep the response, or only the caller's */
export async function serveBundle(
  request: Request,
  name: string,
  { source, chunks }: Pick<FetchContext, "source" | "chunks">,
  visibility: "public" | "private",
): Promise<Response> {
  const bundles = await source.bundles();
  if (bundles === null) return unknownRepositoryResponse();
  const bundle = bundles.find((one) => bundleName(one) === name);
  if (bundle === undefined) return textResponse(404, "bundle not found");
  const file = {
    key: bundle.key,
    sizeBytes: bundle.sizeBytes,
    etag: toHex(bundle.checksum),
    contentType: "application/x-git-bundle",
    cacheControl: `${visibility}, max-age=31536000, immutable`,
  };
  return storedResponse(request, file, chunks);
}

/** A stored object that is served over HTTP. */
interface StoredFile {
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
