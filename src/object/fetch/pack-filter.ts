import type { ObjectFilter } from "../../base/format/filter.ts";
import { type ObjectTypeNumber, toTypeNumber } from "../../base/format/object.ts";
import type { SparsePatterns } from "../../base/format/sparse-patterns.ts";

/** A prepared object filter: an object passes if it passes every part. Objects that the client
 * names by id always pass. */
export interface PackFilter {
  /** Types that pass. */
  readonly types: ReadonlySet<ObjectTypeNumber>;
  /** Blobs of at least this many bytes do not pass. */
  readonly blobLimitBytes: number;
  /** Trees and blobs at this depth or deeper do not pass; a root tree has depth 0. */
  readonly treeDepth: number;
  /** Only blobs pass whose paths each of these includes. */
  readonly sparse: readonly SparsePatterns[];
}

/** Lets everything pass. */
const NO_FILTER: PackFilter = {
  types: new Set([1, 2, 3, 4]),
  blobLimitBytes: Infinity,
  treeDepth: Infinity,
  sparse: [],
};

/** Prepares a filter.
 * @param patterns the contents of the blobs that `sparse:oid` names
 * @see git's list-objects-filter.c */
export function toPackFilter(filter: ObjectFilter | null, patterns: ReadonlyMap<string, SparsePatterns>): PackFilter {
  switch (filter?.kind) {
    case undefined:
      return NO_FILTER;
    case "blob:none":
      return { ...NO_FILTER, types: new Set([1, 2, 4]) };
    case "blob:limit":
      return { ...NO_FILTER, blobLimitBytes: filter.limitBytes };
    case "tree":
      return { ...NO_FILTER, treeDepth: filter.depth };
    case "object:type":
      return { ...NO_FILTER, types: new Set([toTypeNumber(filter.type)]) };
    case "sparse:oid":
      return { ...NO_FILTER, sparse: [patterns.get(filter.blob)!] };
    case "combine":
      return filter.filters.map((part) => toPackFilter(part, patterns)).reduce(combine, NO_FILTER);
  }
}

/** The blobs that `sparse:oid` filters name. */
export function listSparseBlobs(filter: ObjectFilter | null): string[] {
  if (filter?.kind === "sparse:oid") return [filter.blob];
  return filter?.kind === "combine" ? filter.filters.flatMap(listSparseBlobs) : [];
}

/** Whether the filter depends on an object's path, not only on the object. */
export function needsPaths({ treeDepth, sparse }: PackFilter): boolean {
  return treeDepth !== Infinity || sparse.length > 0;
}

function combine(a: PackFilter, b: PackFilter): PackFilter {
  return {
    types: new Set([...a.types].filter((type) => b.types.has(type))),
    blobLimitBytes: Math.min(a.blobLimitBytes, b.blobLimitBytes),
    treeDepth: Math.min(a.treeDepth, b.treeDepth),
    sparse: [...a.sparse, ...b.sparse],
  };
}
