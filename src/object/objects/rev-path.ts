// Splits a URL's revision and path, which follow each other without a mark between them.
import { fromHex, isHexOid } from "../../base/format/oid.ts";
import { type NamedRef, refsNamed } from "./named-refs.ts";
import type { OpenRepository } from "./open-repository.ts";

/** Limit of the leading parts of a path that are tried as a ref's name. Each further part costs
 * another lookup. */
const MAX_REF_PARTS = 16;

/** Revision and path of a URL; byte strings. */
interface RevPath {
  /** Number of the revision's parts. */
  readonly count: number;
  /** Full name of a ref, if it has several parts; else the first part, whatever it names. */
  readonly ref: string;
  readonly path: string;
  /** Full names of the other refs that match. */
  readonly others: readonly string[];
}

/** Splits parts into a revision and a path. If several refs match the beginning of the parts, the
 * best by the rank of `refsNamed` is taken, then the longest: a tag `main/scripts` does not hide a
 * branch `main`. If none matches, or the first part is a full id, the first part is the revision.
 * @param parts byte strings, at least one
 * @param minPath minimum number of the path's parts */
export function splitRevPath(repository: OpenRepository, parts: readonly string[], minPath: 0 | 1): RevPath {
  const first = { count: 1, ref: parts[0]!, path: parts.slice(1).join("/"), others: [] };
  if (isHexOid(first.ref) && repository.find(fromHex(first.ref)) !== null) return first;
  const found: (NamedRef & { count: number })[] = [];
  for (let count = Math.min(parts.length - minPath, MAX_REF_PARTS); count > 0; count--) {
    for (const ref of refsNamed(repository.advertised, parts.slice(0, count).join("/"))) found.push({ ...ref, count });
  }
  // Leaves the ambiguity of a single name to the code that resolves the name.
  if (found.every(({ count }) => count === 1)) return first;
  const [taken, ...others] = found.toSorted((a, b) => a.rank - b.rank || b.count - a.count);
  const { name: ref, rank, count } = taken!;
  const names = rank === 0 ? [] : others.map(({ name }) => name);
  repository.noteMeanings([ref, ...names]);
  return { count, ref, path: parts.slice(count).join("/"), others: names };
}
