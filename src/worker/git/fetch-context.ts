import type { Limits } from "../../base/format/configured-limits.ts";
import type { FetchSource } from "../../contract/fetch.ts";
import { encodeErrPkt, textResponse } from "../../base/http/error-response.ts";
import type { NewPlace } from "../../contract/push.ts";
import type { PackMaker } from "./pack-response.ts";
import { resultResponse } from "../../base/http/smart-http.ts";

/** The environment of git-upload-pack: the repository, the pack maker, and the limits on
 * requests. */
export interface FetchContext extends PackMaker {
  readonly source: FetchSource;
  readonly limits: Limits;
  /** The repository's current place if the request used a former name; else null. Known once
   * `source` has answered. */
  movedTo(): NewPlace | null;
  /** Keeps the request alive until the promise settles, even if the client disconnects. */
  waitUntil(promise: Promise<unknown>): void;
}

/** The answer for a repository that does not exist, which must never look like an empty one. */
export function unknownRepositoryResponse(): Response {
  return textResponse(404, "repository not found");
}

/** Refuses a well-framed request within the protocol, so that git shows the reason.
 * @param refusal byte string
 * @param sidebandAll whether the client wants the whole response multiplexed */
export function refusalResponse(refusal: string, sidebandAll = false): Response {
  return resultResponse("git-upload-pack", encodeErrPkt(refusal, sidebandAll));
}
