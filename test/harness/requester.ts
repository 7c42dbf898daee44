import type { Requester } from "../../src/access/caller.ts";

/** Any caller, with open access. */
export const ANYONE: Requester = {
  requestId: "test",
  caller: { kind: "anyone" },
  right: "operate",
  knownMs: 0,
  quota: {
    repository: { maxBytes: null, maxObjects: null },
    owner: { maxBytes: null, maxObjects: null },
    others: { sizeBytes: 0, objectCount: 0 },
  },
};
