import type { Limits } from "../format/limits.ts";
import type { FetchSource } from "../repository/state/fetch-source.ts";
import { encodeErrPkt, textResponse } from "./error-response.ts";
import type { NewPlace } from "./moved.ts";
import type { PackMaker } from "./pack-response.ts";
import { resultResponse } from "./smart-http.ts";

/** What serving git-upload-pack takes: the repository, where packs are made, and the caps on requests. */
export interface FetchContext extends PackMaker {
  readonly source: FetchSource;
  readonly limits: Limits;
  /** Where the repository is now, if the request came by a name that it left; else null. Known once `source` has answered. */
  movedTo(): NewPlace | null;
  /** Keeps the request alive until the promise is settled, even when its client leaves. */
  waitUntil(promise: Promise<unknown>): void;
}

/** Answers for a repository that does not exist: never an empty clone. */
export function unknownRepositoryResponse(): Response {
  return textResponse(404, "repository not found");
}

/** Refuses a well-framed request in the protocol's own way, so that git shows the reason.
 * @param refusal byte string
 * @param sidebandAll the client wants the whole response multiplexed */
export function refusalResponse(refusal: string, sidebandAll = false): Response {
  return resultResponse("git-upload-pack", encodeErrPkt(refusal, sidebandAll));
}
