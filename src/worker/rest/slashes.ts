import { getPath } from "hono/utils/url";

/** Resources of a repository that end in a name, which may have slashes, and what may follow. */
const NAMED = /^(\/api\/repos\/[^/]+\/[^/]+\/(?:branches|tags|refs|compare|commits)\/)(.+)$/;

const STATUSES = /(?<=\/commits\/.+)\/statuses$/;

/** The path by which a request is routed. Slashes in the name of a branch, tag or revision may be
 * sent as they are: they are encoded here, so that a route has the name in one parameter. Of a
 * commit, `/statuses` at the end is no part of the name; one that ends so is sent encoded. */
export function routePath(request: Request): string {
  const path = getPath(request);
  const [end = ""] = STATUSES.exec(path) ?? [];
  return path
    .slice(0, path.length - end.length)
    .replace(NAMED, (_, resource: string, name: string) => resource + name.replaceAll("/", "%2F"))
    .concat(end);
}
