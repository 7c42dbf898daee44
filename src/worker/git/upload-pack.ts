import { errorResponse } from "../../base/http/error-response.ts";
import { type FetchContext, unknownRepositoryResponse } from "./fetch-context.ts";
import { openRequestBody } from "../../base/http/request-body.ts";
import { advertisementResponse, protocolVersion, refuseRpc } from "../../base/http/smart-http.ts";
import { advertiseV0, serveV0 } from "./upload-pack-v0.ts";
import { advertiseV2, serveV2 } from "./upload-pack-v2.ts";

const SERVICE = "git-upload-pack";

/** Answers `GET …/info/refs?service=git-upload-pack` for an authorised caller.
 * @see gitprotocol-http(5) "Discovering References" */
export async function advertiseUploadPack(
  request: Request,
  { source }: Pick<FetchContext, "source">,
): Promise<Response> {
  const version = protocolVersion(request);
  // Version 2 advertises no refs, but an unknown repository must still be distinguished from an
  // empty one.
  const refs = await source.refs(version === 2 ? ["HEAD"] : []);
  if (refs === null) return unknownRepositoryResponse();
  return advertisementResponse(SERVICE, version === 2 ? advertiseV2() : advertiseV0(refs, version));
}

/** Answers `POST …/git-upload-pack` for an authorised caller. */
export async function serveUploadPack(request: Request, context: FetchContext): Promise<Response> {
  const refusal = refuseRpc(request, SERVICE);
  if (refusal !== null) return refusal;
  try {
    const reader = openRequestBody(request, context.limits.maxFetchRequestBytes);
    return await (protocolVersion(request) === 2 ? serveV2(reader, context) : serveV0(reader, context));
  } catch (error) {
    return errorResponse(error);
  }
}
