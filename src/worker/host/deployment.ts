import type { Caller, Right } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { parseRepositoryName } from "../../base/format/repository-name.ts";
import type { Deployment } from "../shared/deployment.ts";
import { R2ChunkStore } from "../../base/chunks/r2-chunk-store.ts";
import { demandRight } from "./demand.ts";
import { printEvent } from "../../contract/event-log.ts";
import type { HostRequest } from "./host-request.ts";
import { openListener } from "./listener.ts";
import { openOwner, openOwnerListener } from "./open-owner.ts";
import { newQuotaService } from "./quota-service.ts";
import { newRepositoryRegistry } from "./repository-registry.ts";
import { newTokenService } from "./token-service.ts";

/** Implements the services of the API and of the pages for a request on this platform.
 * @param codec the isolate's */
export function newDeployment(request: HostRequest, codec: Deployment["reading"]["codec"]): Deployment {
  const { env } = request;
  const findCaller = async (): Promise<Caller> => (await request.asker()).caller;
  const demand = async (needed: Right, owner: string): Promise<void> =>
    void (await demandRight(request, needed, owner));
  return {
    open: async (owner, repository, needed, noteAmbiguities) =>
      (await request.open(parseRepositoryName(owner, repository), needed)).client(noteAmbiguities),
    listen: (owner, repository) => openListener(request, parseRepositoryName(owner, repository)),
    openOwner: (owner, needed) => openOwner(request, owner, needed),
    listenToOwner: (owner) => openOwnerListener(request, owner),
    demandToken: async () => {
      const caller = await findCaller();
      if (caller.kind === "anonymous") throw new GitError("unauthenticated", { what: "token" });
    },
    demand,
    tokens: newTokenService(env, findCaller, demand),
    quotas: newQuotaService(env, findCaller, demand),
    reading: {
      codec,
      openChunks: (counters) => new R2ChunkStore(env.BUCKET, counters),
      observe: (event) => printEvent(event, request.origin),
    },
    registry: newRepositoryRegistry(request, findCaller, demand),
  };
}
