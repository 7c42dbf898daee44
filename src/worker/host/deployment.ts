import { type Caller, type Right, everythingOf, may } from "../../base/access/caller.ts";
import { parseRepositoryName } from "../../base/format/repository-name.ts";
import { GitError } from "../../base/format/errors.ts";
import { newPushRequest } from "../git/push-client.ts";
import { readOutcome } from "../../contract/push-outcome.ts";
import type { RestHost } from "../rest/common/routes.ts";
import type { Deployment } from "../shared/deployment.ts";
import type { MayCreate, Visitor, WebHost } from "../web/parts/web-env.ts";
import { R2ChunkStore } from "../../base/chunks/r2-chunk-store.ts";
import type { HostRequest } from "./host-request.ts";
import { demandRight, newQuotaService, newTokenService } from "./services.ts";
import { printEvent } from "../../contract/event-log.ts";
import { identifyVisitor, signIn, signOut } from "./sessions.ts";
import type { Ambiguities } from "../../contract/calls.ts";
import { openListener, openOwner, openOwnerListener } from "./listener.ts";
import { newRepositoryRegistry } from "./repository-registry.ts";

/** Implements the services of the API and of the pages for one request on this platform.
 * @param codec of the isolate */
function newDeployment(request: HostRequest, codec: Deployment["reading"]["codec"]): Deployment {
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

/** Implements the REST API's services for one request on this platform.
 * @param codec of the isolate */
export function newRestHost(request: HostRequest, codec: RestHost["reading"]["codec"]): RestHost {
  return {
    ...newDeployment(request, codec),
    push: async (owner, repository, commands, pack) => {
      const opened = await request.open(parseRepositoryName(owner, repository), "write");
      // The object ignores the URL's host. A restore may create its repository.
      return readOutcome(await opened.push(newPushRequest("https://holdfast", commands, pack), true));
    },
  };
}

/** Implements the services of the pages for one request on this platform. From here on, the caller
 * is the one of the browser's session.
 * @param codec of the isolate */
export function newWebHost(request: HostRequest, codec: WebHost["reading"]["codec"]): WebHost {
  const { env, request: received } = request;
  request.identifyBy(identifyVisitor);
  return {
    ...newDeployment(request, codec),
    requestId: request.id,
    build: env.VERSION.id,
    visitor: async () => toVisitor((await request.asker()).caller),
    mayCreate: async () => toMayCreate((await request.asker()).caller),
    openPlace: async (owner, repository, needed: Right, noteAmbiguities: (found: Ambiguities) => void) => {
      const opened = await request.open(parseRepositoryName(owner, repository), needed);
      const { place } = opened;
      if (place === null) throw new GitError("not-found", { subject: "repository" });
      const { name, visibility, right, isFormer } = place;
      return { owner: place.owner, name, visibility, right, isFormer, client: opened.client(noteAmbiguities) };
    },
    signIn: (token) => signIn(received, env, token),
    signOut: () => signOut(received, env),
  };
}

function toVisitor(caller: Caller): Visitor {
  switch (caller.kind) {
    case "anyone":
    case "anonymous":
      return { kind: caller.kind };
    case "operator":
      return { kind: "signed-in", name: "operator", id: "operator" };
    case "token":
      return { kind: "signed-in", name: caller.token.name, id: caller.token.id };
  }
}

function toMayCreate(caller: Caller): MayCreate {
  if (caller.kind === "anyone" || caller.kind === "operator") return "everywhere";
  if (caller.kind !== "token") return null;
  const { scope } = caller.token;
  if (!("owner" in scope) || !may(caller, "write", everythingOf(scope.owner))) return null;
  return { owner: scope.owner, right: caller.token.right };
}
