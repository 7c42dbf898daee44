import { decodeText } from "../../../base/format/byte-string.ts";
import { parseRepositoryName, type RepositoryName } from "../../../base/format/repository-name.ts";
import { pathUrl } from "./urls.ts";

/** For known hosts, the path of a commit's files after the repository's URL. */
const HOSTS: Readonly<Record<string, string>> = {
  "github.com": "tree",
  "gitlab.com": "-/tree",
  "codeberg.org": "src/commit",
  "bitbucket.org": "src",
};

/** `user@host:path`, an address for ssh. */
const SCP = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)([^:]*)$/;

const SCHEMES: readonly string[] = ["http:", "https:", "git:", "ssh:", "git+ssh:"];

/** Finds the page of a submodule's commit, here or on a known host. Other hosts get no link, so
 * that no URL in a repository can lead a visitor astray.
 * @param place of the repository that has the submodule
 * @param url as in `.gitmodules`, byte string
 * @param oid of the commit, hex
 * @param origin of this deployment
 * @returns null: no page is known */
export function submoduleUrl(place: RepositoryName, url: string, oid: string, origin: string): string | null {
  const address = resolveAddress(place, decodeText(url), origin);
  if (address === null) return null;
  const parts = address.pathname.split("/").filter((part) => part !== "");
  if (parts.some((part) => !/^[\w.-]+$/.test(part))) return null;
  const [owner = "", name = ""] = parts;
  if (address.host === new URL(origin).host) {
    const own = parts.length === 2 ? parseRepositoryName(owner, name) : null;
    // A submodule's commit is rarely in the repository that contains the submodule.
    const isItself = own?.owner === place.owner && own.name === place.name;
    return own === null || isItself ? null : pathUrl(own, "tree", oid, "");
  }
  const host = address.hostname.replace(/^www\./, "");
  // Groups of GitLab can be nested.
  const isKnown = Object.hasOwn(HOSTS, host) && (parts.length === 2 || (host === "gitlab.com" && parts.length > 2));
  return isKnown ? `https://${host}/${parts.join("/").replace(/\.git$/, "")}/${HOSTS[host]!}/${oid}` : null;
}

/** Resolves a URL of `.gitmodules`. A relative one begins at the repository's own, as for `git
 * submodule`.
 * @returns null: no web address */
function resolveAddress(place: RepositoryName, url: string, origin: string): URL | null {
  if (/^\.\.?(?:\/|$)/.test(url)) return resolveRelative(place, url, origin);
  const [, host, path] = SCP.exec(url) ?? [];
  const absolute = host === undefined ? url : `ssh://${host}/${path!}`;
  if (!URL.canParse(absolute)) return null;
  const address = new URL(absolute);
  return SCHEMES.includes(address.protocol) ? address : null;
}

/** Resolves a relative URL. As in git, only `../` at its beginning leads upwards, and never above
 * all repositories.
 * @see relative_url() in git's remote.c */
function resolveRelative({ owner, name }: RepositoryName, url: string, origin: string): URL | null {
  const [start] = /^(?:\.\.?(?:\/+|$))*/.exec(url)!;
  const path = url.slice(start.length);
  const ups = start.split("/").filter((part) => part === "..").length;
  const base = [owner, name].slice(0, 2 - ups);
  if (ups > 2 || path.split("/").some((part) => part === "." || part === "..")) return null;
  const address = [origin, ...base, path].join("/");
  return URL.canParse(address) ? new URL(address) : null;
}
