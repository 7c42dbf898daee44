import type { FetchRequest } from "../../src/repository/fetch-source.ts";

/** What a client says that has nothing and cuts nothing; its wants are missing. */
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
};
