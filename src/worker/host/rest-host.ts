import { parseRepositoryName } from "../../base/format/repository-name.ts";
import { newPushRequest } from "../git/push-client.ts";
import { readOutcome } from "../../contract/push-outcome.ts";
import type { RestHost } from "../rest/common/routes.ts";
import { newDeployment } from "./deployment.ts";
import type { HostRequest } from "./host-request.ts";

/** Implements the REST API's services for a request on this platform.
 * @param codec the isolate's */
export function newRestHost(request: HostRequest, codec: RestHost["reading"]["codec"]): RestHost {
  return {
    ...newDeployment(request, codec),
    push: async (owner, repository, commands, pack) => {
      const opened = await request.open(parseRepositoryName(owner, repository), "write");
      // The object ignores the host of the URL. A restore may create its repository.
      return readOutcome(await opened.push(newPushRequest("https://holdfast", commands, pack), true));
    },
  };
}
