import type { Requester } from "../../src/access/caller.ts";

/** Whoever it is, where access is open. */
export const ANYONE: Requester = { requestId: "test", caller: { kind: "anyone" } };
