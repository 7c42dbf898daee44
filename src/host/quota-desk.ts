import type { Caller, Right } from "../access/caller.ts";
import { effectiveQuota } from "../access/quota.ts";
import type { Deployment, Place, QuotaDesk } from "../repository/deployment.ts";
import type { QuotaHolder } from "../store/registry/quota-table.ts";
import { forgetRoutesTo, registryOf } from "./directory.ts";
import type { Env } from "./env.ts";
import { findScope } from "./find-scope.ts";
import { configuredLimits } from "./repository-object.ts";

/** Shows and sets quotas for one request, as far as its caller may.
 * @param demand
 * @see Deployment.demand */
export function newQuotaDesk(env: Env, caller: () => Promise<Caller>, demand: Deployment["demand"]): QuotaDesk {
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
