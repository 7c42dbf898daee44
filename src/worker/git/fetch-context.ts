import type { Limits } from "../../base/format/configured-limits.ts";
import type { FetchSource } from "../../contract/fetch.ts";
import { encodeErrPkt, textResponse } from "../../base/http/error-response.ts";
import type { NewPlace } from "../../contract/push.ts";
import type { PackMaker } from "./pack-response.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** What git-upload-pack needs: the repository, the pack maker, and the limits on requests. */
export interface FetchContext extends PackMaker {
  readonly source: FetchSource;
  readonly limits: Limits;
  /** The repository's present place, if the request used a name that it no longer has; else null.
   * Known once `source` has answered. */
  movedTo(): NewPlace | null;
  /** Keeps the request alive until the promise settles, even if the client disconnects. */
  waitUntil(promise: Promise<unknown>): void;
}

/** Answers for a repository that does not exist, which must never look like an empty one. */
export function unknownRepositoryResponse(): Response {
  return textResponse(404, "repository not found");
}

/** Refuses a well-framed request within the protocol, so that git shows the reason.
 * @param refusal byte string
 * @param sidebandAll the client wants the whole response multiplexed */
export function refusalResponse(refusal: string, sidebandAll = false): Response {
  return resultResponse("git-upload-pack", encodeErrPkt(refusal, sidebandAll));
}
