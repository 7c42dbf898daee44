import type { Caller, Right } from "../../base/access/caller.ts";
import { effectiveQuota } from "../../base/access/quota.ts";
import type { Deployment, Place, QuotaService } from "../shared/deployment.ts";
import type { QuotaHolder } from "../../contract/registry.ts";
import { registryOf } from "./directory.ts";
import { forgetRoutesTo } from "./known-routes.ts";
import { type Env, configuredLimits } from "../../contract/env.ts";
import { findScope } from "./find-scope.ts";

/** Shows and sets quotas for one request, as far as its caller may.
 * @param demand
 * @see Deployment.demand */
export function newQuotaService(env: Env, caller: () => Promise<Caller>, demand: Deployment["demand"]): QuotaService {
  const registry = registryOf(env);
  const find = (place: Place, needed: Right) => findScope(env, place, caller, needed, demand);
  const read = async (holder: QuotaHolder) => {
    const standing = await registry.readQuota(holder);
    return { ...standing, effective: "owner" in holder ? standing : effectiveQuota(standing, configuredLimits(env)) };
  };
  return {
    read: async (place) => read(await find(place, place.repository === undefined ? "admin" : "read")),
    set: async (place, change) => {
      const holder = await find(place, "operate");
      await registry.setQuota(holder, change);
      forgetRoutesTo(holder);
      return read(holder);
    },
  };
}
