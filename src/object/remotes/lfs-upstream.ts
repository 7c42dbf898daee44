// What an import asks of an upstream's Git LFS server.
import type { LfsObject } from "../../contract/lfs.ts";
import { checkLink } from "./address.ts";
import { failed, type GitServer, MAX_REDIRECTS } from "./git-server.ts";
import { askBatch, type LfsAction } from "./lfs-server.ts";

/** Asks where objects are.
 * @returns by id; without those that the upstream does not have
 * @throws GitError as `askBatch` */
export async function findDownloads(
  upstream: GitServer,
  objects: readonly LfsObject[],
): Promise<Map<string, LfsAction>> {
  const answers = await askBatch(upstream, "download", objects);
  return new Map(
    Array.from(answers).flatMap(([oid, { actions, error }]): [string, LfsAction][] => {
      const download = actions?.download ?? null;
      return download !== null && (error ?? null) === null ? [[oid, download]] : [];
    }),
  );
}

/** Opens an object where the upstream said that it is. Redirects are followed, each checked as the
 * first address was; another origin than the first gets none of the headers.
 * @returns null: it is not there
 * @throws GitError "unavailable", "invalid" for an address that may not be asked */
export async function openDownload(upstream: GitServer, { href, header }: LfsAction): Promise<Response | null> {
  const first = checkLink(href, upstream.allowsPrivate);
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const headers = url.origin === first.origin ? (header ?? {}) : {};
    const response = await upstream.send(url.href, headers);
    const location = response.headers.get("Location");
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (response.status === 200) return response;
    await response.body?.cancel();
    if (response.status === 404 || response.status === 410) return null;
    if (!isRedirect) throw failed("upstream", `its Git LFS answered ${response.status} for an object`);
    if (redirects === MAX_REDIRECTS)
      throw failed("upstream", `its Git LFS redirected more than ${MAX_REDIRECTS} times`);
    const next = checkLink(URL.parse(location, url)?.href ?? "", upstream.allowsPrivate);
    if (next.protocol === "http:" && url.protocol === "https:")
      throw failed("upstream", "it redirected from https: to http:");
    url = next;
  }
}
