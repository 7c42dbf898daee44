import type { Requester } from "../../src/base/access/caller.ts";
import { NO_QUOTA } from "../../src/base/access/quota.ts";

/** Any caller, with open access. */
export const ANYONE: Requester = {
  requestId: "test",
  caller: { kind: "anyone" },
  right: "operate",
  knownMs: 0,
  quota: { repository: NO_QUOTA, owner: NO_QUOTA, others: { sizeBytes: 0, objectCount: 0 } },
};
