import { type Caller, everythingOf, may, type Right } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { parseRepositoryName } from "../../base/format/repository-name.ts";
import type { MayCreate, Visitor, WebHost } from "../web/parts/web-env.ts";
import { newDeployment } from "./deployment.ts";
import type { HostRequest } from "./host-request.ts";
import { identifyVisitor, signIn, signOut } from "./sessions.ts";
import type { Ambiguities } from "../../contract/calls.ts";

/** Implements the services of the pages for a request on this platform. From here on, its caller is
 * whoever the session says.
 * @param codec the isolate's */
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
