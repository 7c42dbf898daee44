import { toHex } from "../../format/oid.ts";
import { refsNamed } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, type Revision } from "../objects/revision.ts";
import { splitRevPath } from "../objects/rev-path.ts";
import { BRANCHES, TAGS } from "../refs/move-ref.ts";

/** The revision of a page. */
export interface PageRevision {
  /** As the URL names it, byte string. */
  readonly name: string;
  /** `commit`: an id, or another revision that is neither. */
  readonly kind: "branch" | "tag" | "commit";
  /** Id in hex. */
  readonly commit: string;
}

/** What a page's URL names. */
export interface PageTarget {
  readonly revision: PageRevision;
  readonly commit: Revision;
  /** Byte string, "" for the root. */
  readonly path: string;
}

/** Finds the commit and the path that a page's URL names.
 * @param parts of the URL, byte strings; empty: HEAD
 * @throws GitError as `resolveCommit` */
export async function openTarget(repository: OpenRepository, parts: readonly string[]): Promise<PageTarget> {
  const named = parts.length === 0 ? [headName(repository)] : parts;
  const { count, ref, path } = splitRevPath(repository, named, 0);
  const commit = await resolveCommit(repository, ref);
  const name = named.slice(0, count).join("/");
  const full = refsNamed(repository.advertised, ref)[0]?.name ?? "";
  const kind = full.startsWith(BRANCHES) ? "branch" : full.startsWith(TAGS) ? "tag" : "commit";
  return { revision: { name, kind, commit: toHex(commit.oid) }, commit, path };
}

/** The branch that HEAD names, or HEAD itself. */
function headName({ advertised }: OpenRepository): string {
  const target = advertised.head?.target ?? "";
  return target.startsWith(BRANCHES) ? target.slice(BRANCHES.length) : "HEAD";
}
