import { toHex } from "../../base/format/oid.ts";
import type { StoredBundle } from "../../contract/fetch.ts";
import { textResponse } from "../../base/http/error-response.ts";
import { type FetchContext, unknownRepositoryResponse } from "./fetch-context.ts";
import { storedResponse } from "./stored-response.ts";

/** A bundle's file name in its URL. A name always means the same bytes, so caches may keep them for
 * ever. */
export function bundleName({ token, checksum }: StoredBundle): string {
  return `${token}-${toHex(checksum)}.bundle`;
}

/** Answers `GET …/bundles/<name>` for an authorised caller.
 * @param visibility whether shared caches may keep the response, or the caller's alone */
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
