// A revision and a path, one after the other in a URL, without a mark where the revision ends.
import { fromHex, isHexOid } from "../../base/format/oid.ts";
import { type NamedRef, refsNamed } from "./named-refs.ts";
import type { OpenRepository } from "./open-repository.ts";

/** The most leading parts of a path that are tried as a ref's name. Each further one costs another
 * lookup. */
const MAX_REF_PARTS = 16;

/** Parts of a URL, split. All byte strings. */
interface RevPath {
  /** How many parts the revision has. */
  readonly count: number;
  /** A ref's full name, if it has several parts; else the first part, whatever that names. */
  readonly ref: string;
  readonly path: string;
  /** Full names of the other refs that could have been meant. */
  readonly others: readonly string[];
}

/** Splits parts into a revision and a path. If several refs match the beginning of the parts, the
 * one that `refsNamed` ranks first is taken, then the longest: a branch `main` is not hidden by a
 * tag `main/scripts`. If none matches, or the first part is a full id, the first part is the
 * revision.
 * @param parts byte strings, at least one
 * @param minPath how many parts the path has at least */
export function splitRevPath(repository: OpenRepository, parts: readonly string[], minPath: 0 | 1): RevPath {
  const first = { count: 1, ref: parts[0]!, path: parts.slice(1).join("/"), others: [] };
  if (isHexOid(first.ref) && repository.find(fromHex(first.ref)) !== null) return first;
  const found: (NamedRef & { count: number })[] = [];
  for (let count = Math.min(parts.length - minPath, MAX_REF_PARTS); count > 0; count--) {
    for (const ref of refsNamed(repository.advertised, parts.slice(0, count).join("/"))) found.push({ ...ref, count });
  }
  // Ambiguity of a single name is reported where the name is resolved.
  if (found.every(({ count }) => count === 1)) return first;
  const [taken, ...others] = found.toSorted((a, b) => a.rank - b.rank || b.count - a.count);
  const { name: ref, rank, count } = taken!;
  const names = rank === 0 ? [] : others.map(({ name }) => name);
  repository.noteMeanings([ref, ...names]);
  return { count, ref, path: parts.slice(count).join("/"), others: names };
}
