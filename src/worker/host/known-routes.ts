// The routes from names to repositories that this isolate has cached.
import { foldRepositoryName, type RepositoryName } from "../../base/format/repository-name.ts";
import { type QuotaHolder, ANSWER_LIFE_MS, type RepositoryRoute } from "../../contract/registry.ts";
import { ExpiringMap } from "./expiring-map.ts";

/** Maximum number of cached routes, some 300 bytes each. */
const MAX_ROUTES = 10_000;

/** A route, as the registry returned it. */
export interface KnownRoute extends RepositoryRoute {
  /** When the registry was asked, not when it answered. */
  readonly knownMs: number;
}

const remembered = new ExpiringMap<KnownRoute>(MAX_ROUTES);

/** Looks up the cached route of a name; null: none is cached. */
export function recallRoute(name: RepositoryName): KnownRoute | null {
  return remembered.get(foldRepositoryName(name), Date.now()) ?? null;
}

/** Caches a route for `ANSWER_LIFE_MS`, unless its name is a former one. */
export function rememberRoute(name: RepositoryName, route: KnownRoute): void {
  if (route.isFormer) forgetRoute(name);
  else remembered.set(foldRepositoryName(name), route, route.knownMs + ANSWER_LIFE_MS);
}

/** Drops the cached route of a name, after a change by this isolate. */
export function forgetRoute(name: RepositoryName): void {
  remembered.delete(foldRepositoryName(name));
}

/** Drops the cached routes to an owner's repositories or to one repository, under all names, after
 * a change of their quota. */
export function forgetRoutesTo(holder: QuotaHolder): void {
  remembered.deleteWhere(({ id, owner }) =>
    "owner" in holder ? owner.toLowerCase() === holder.owner.toLowerCase() : id === holder.repositoryId,
  );
}
