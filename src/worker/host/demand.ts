import { authorise, everythingOf, type Right, rightOf } from "../../base/access/caller.ts";
import { GitError } from "../../base/format/errors.ts";
import type { HostRequest } from "./host-request.ts";

/** Refuses a request whose caller lacks the needed right for everything of an owner.
 * @returns the caller's right
 * @throws GitError @see Deployment.demand */
export async function demandRight(request: HostRequest, needed: Right, owner: string): Promise<Right> {
  const { caller } = await request.asker();
  const target = everythingOf(owner);
  const right = rightOf(caller, target);
  // Owners are no secret: a caller without a right is told so.
  if (caller.kind !== "anonymous" && right === null)
    throw new GitError("forbidden", { what: `access to what belongs to ${owner}` });
  authorise(caller, needed, target);
  return right!;
}
