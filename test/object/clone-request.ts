import type { FetchOutcome, FetchRequest } from "../../src/contract/fetch.ts";
import type { PackPlan } from "../../src/base/bytes/pack-plan.ts";

/** The plan of the pack that a fetch results in, also when other requests would wait for it.
 * @throws Error when there is none */
export function plannedPack(outcome: FetchOutcome): PackPlan {
  if (
    outcome.kind !== "negotiated" ||
    outcome.pack === null ||
    outcome.pack.kind === "stored" ||
    outcome.pack.kind === "awaited"
  ) {
    throw new Error(`no plan: ${outcome.kind}`);
  }
  return outcome.pack.plan;
}

/** The request of a client that has nothing and no shallow boundary, without its wants. */
export const CLONE_REQUEST: Omit<FetchRequest, "wants"> = {
  wantRefs: [],
  haves: new Uint8Array(0),
  shallows: new Uint8Array(0),
  deepen: null,
  filter: null,
  packWhen: "done",
  thinPack: true,
  ofsDelta: true,
  includeTag: false,
  framing: "",
};
