import { getPath } from "hono/utils/url";

/** Resources of a repository that end in a name, which may contain slashes. */
const NAMED = /^(\/api\/repos\/[^/]+\/[^/]+\/(?:branches|tags|refs|compare|commits)\/)(.+)$/;

const STATUSES = /(?<=\/commits\/.+)\/statuses$/;

/** Returns the path by which a request is routed. Slashes in the name of a branch, tag or revision
 * may be sent unencoded: they are encoded here, so that a route has the name in one parameter.
 * `/statuses` at the end of a commit's path is not part of the name; a name with that end must be
 * sent encoded. */
export function routePath(request: Request): string {
  const path = getPath(request);
  const [end = ""] = STATUSES.exec(path) ?? [];
  return path
    .slice(0, path.length - end.length)
    .replace(NAMED, (_, resource: string, name: string) => resource + name.replaceAll("/", "%2F"))
    .concat(end);
}
