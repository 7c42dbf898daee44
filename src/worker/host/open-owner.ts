import type { Right } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import { isOwnerName } from "../../base/format/repository-name.ts";
import { newClient, type OwnerClient } from "../../contract/calls.ts";
import { type OwnerRpc, type Remote, LISTEN_REQUEST } from "../../contract/objects.ts";
import type { OwnerListener } from "../shared/deployment.ts";
import { demandRight } from "./demand.ts";
import type { Env } from "../../contract/env.ts";
import type { HostRequest } from "./host-request.ts";
import { SocketListener } from "./listener.ts";

/** Opens an owner for a request whose caller has the needed right for all that they have.
 * @throws GitError "invalid", and as `Deployment.demand` */
export async function openOwner(request: HostRequest, owner: string, needed: Right): Promise<OwnerClient> {
  if (!isOwnerName(owner)) throw new GitError("invalid", { what: "owner", field: "owner", actual: owner });
  const right = await demandRight(request, needed, owner);
  const stub = ownerOf(request.env, owner);
  return newClient<OwnerClient>((name, argument) => stub.call(name, argument, right));
}

/** Listens to an owner for a request that may read all that they have.
 * @throws GitError "unavailable" when there are too many listeners, and as `openOwner` */
export async function openOwnerListener(request: HostRequest, owner: string): Promise<OwnerListener> {
  await openOwner(request, owner, "read");
  const { url, headers } = LISTEN_REQUEST;
  const { webSocket } = await ownerOf(request.env, owner).fetch(new Request(url, { headers }));
  if (webSocket === null)
    throw new GitError("unavailable", { what: "event stream", reason: "too many listen to this owner" });
  // Each reading is a request of its own, since the caller's right may have ended.
  return new SocketListener(webSocket, async (query) =>
    (await openOwner(request.again(), owner, "read")).events(query),
  );
}

/** The object of an owner, whose name may be written in any case. */
function ownerOf(env: Env, owner: string): Remote<OwnerRpc> {
  return env.OWNERS.getByName(owner.toLowerCase()) as unknown as Remote<OwnerRpc>;
}
