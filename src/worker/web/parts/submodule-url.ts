import { decodeText } from "../../../base/format/byte-string.ts";
import { parseRepositoryName, type RepositoryName } from "../../../base/format/repository-name.ts";
import { pathUrl } from "./urls.ts";

/** Where known hosts show a commit's files, behind the repository's URL. */
const HOSTS: Readonly<Record<string, string>> = {
  "github.com": "tree",
  "gitlab.com": "-/tree",
  "codeberg.org": "src/commit",
  "bitbucket.org": "src",
};

/** `user@host:path`, as ssh takes it. */
const SCP = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)([^:]*)$/;

const SCHEMES: readonly string[] = ["http:", "https:", "git:", "ssh:", "git+ssh:"];

/** The page of a submodule's commit: here or on a known host. Nothing else is linked to, so that no
 * URL of a repository's leads a visitor anywhere.
 * @param place of the repository that has the submodule
 * @param url as `.gitmodules` has it, byte string
 * @param oid of the commit, hex
 * @param origin of this deployment
 * @returns null: it has none */
export function submoduleUrl(place: RepositoryName, url: string, oid: string, origin: string): string | null {
  const address = resolveAddress(place, decodeText(url), origin);
  if (address === null) return null;
  const parts = address.pathname.split("/").filter((part) => part !== "");
  if (parts.some((part) => !/^[\w.-]+$/.test(part))) return null;
  const [owner = "", name = ""] = parts;
  if (address.host === new URL(origin).host) {
    const own = parts.length === 2 ? parseRepositoryName(owner, name) : null;
    // The commit of a submodule is hardly in the repository that has it.
    const isItself = own?.owner === place.owner && own.name === place.name;
    return own === null || isItself ? null : pathUrl(own, "tree", oid, "");
  }
  const host = address.hostname.replace(/^www\./, "");
  // Groups of GitLab's can be in each other.
  const isKnown = Object.hasOwn(HOSTS, host) && (parts.length === 2 || (host === "gitlab.com" && parts.length > 2));
  return isKnown ? `https://${host}/${parts.join("/").replace(/\.git$/, "")}/${HOSTS[host]!}/${oid}` : null;
}

/** What a URL of `.gitmodules` means. A relative one begins at the repository's own, as for
 * `git submodule`.
 * @returns null: nothing that a page could be at */
function resolveAddress(place: RepositoryName, url: string, origin: string): URL | null {
  if (/^\.\.?(?:\/|$)/.test(url)) return resolveRelative(place, url, origin);
  const [, host, path] = SCP.exec(url) ?? [];
  const absolute = host === undefined ? url : `ssh://${host}/${path!}`;
  if (!URL.canParse(absolute)) return null;
  const address = new URL(absolute);
  return SCHEMES.includes(address.protocol) ? address : null;
}

/** What a relative URL means. As for git, only its beginning leads upwards, and not above all
 * repositories.
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
