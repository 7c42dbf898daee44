// The routes that this isolate knows from names to repositories.
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

/** The cached routes of this isolate. */
const remembered = new ExpiringMap<KnownRoute>(MAX_ROUTES);

/** The cached route of a name; null: it is not known here. */
export function recallRoute(name: RepositoryName): KnownRoute | null {
  return remembered.get(foldRepositoryName(name), Date.now()) ?? null;
}

/** Caches a route for its time. One of a former name is not kept. */
export function rememberRoute(name: RepositoryName, route: KnownRoute): void {
  if (route.isFormer) forgetRoute(name);
  else remembered.set(foldRepositoryName(name), route, route.knownMs + ANSWER_LIFE_MS);
}

/** Drops the cached route of a name, after a change by this isolate. */
export function forgetRoute(name: RepositoryName): void {
  remembered.delete(foldRepositoryName(name));
}

/** Drops the cached routes to an owner's repositories, or to one, under all names, since their
 * quota has changed. */
export function forgetRoutesTo(holder: QuotaHolder): void {
  remembered.deleteWhere(({ id, owner }) =>
    "owner" in holder ? owner.toLowerCase() === holder.owner.toLowerCase() : id === holder.repositoryId,
  );
}
