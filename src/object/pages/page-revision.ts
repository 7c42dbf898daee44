import { toHex } from "../../base/format/oid.ts";
import { branchRev, HEADS, TAGS } from "../../base/format/ref-name.ts";
import { refsNamed, stableRev } from "../objects/named-refs.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { resolveCommit, type Revision } from "../objects/revision.ts";
import { splitRevPath } from "../objects/rev-path.ts";
import type { PageRevision } from "../../contract/pages.ts";

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
  const typed = named.slice(0, count).join("/");
  const full = refsNamed(repository.advertised, ref)[0]?.name ?? "";
  const kind = full.startsWith(HEADS) ? "branch" : full.startsWith(TAGS) ? "tag" : "commit";
  const name = stableRev(repository.advertised, typed, full);
  const short = kind === "commit" ? typed : full.slice((kind === "branch" ? HEADS : TAGS).length);
  return { revision: { name, short, kind, commit: toHex(commit.oid) }, commit, path };
}

/** How URLs name a revision that somebody typed.
 * @param name byte string */
export async function stableName({ advertised }: OpenRepository, { name }: { readonly name: string }): Promise<string> {
  return stableRev(advertised, name, refsNamed(advertised, name)[0]?.name ?? "");
}

/** The branch that HEAD names, or HEAD itself. */
function headName({ advertised }: OpenRepository): string {
  const target = advertised.head?.target ?? "";
  return target.startsWith(HEADS) ? branchRev(target.slice(HEADS.length)) : "HEAD";
}
