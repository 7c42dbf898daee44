import {
  BUNDLE_DELAY_MS,
  FREE_WORKTREE_BYTES,
  MAX_COMMAND_BYTES,
  MAX_DEEPEN_NOTS,
  MAX_DELTA_DEPTH,
  MAX_FETCH_REQUEST_BYTES,
  MAX_HAVES,
  MAX_INDEX_BYTES,
  MAX_LFS_OBJECT_BYTES,
  MAX_OBJECT_SIZE_BYTES,
  MAX_PACK_OBJECTS,
  MAX_PACK_REFERENCES,
  MAX_PACK_SIZE_BYTES,
  MAX_PART_BYTES,
  MAX_PUSH_WORK_BYTES,
  MAX_REFLOG_BYTES,
  MAX_REFS_PER_PUSH,
  MAX_REF_BYTES,
  MAX_REF_PREFIXES,
  MAX_RESIDENT_OBJECT_BYTES,
  MAX_SHALLOWS,
  MAX_STORED_RESPONSE_BYTES,
  MAX_WANTS,
  MAX_WORKTREE_PATH_BYTES,
  MIN_BUNDLE_BYTES,
  NO_LIMIT,
  PRUNE_GRACE_MS,
  QUIET_MS,
} from "./limits.ts";

/** The limits that the configuration may lower, by name: sizes in bytes, the rest counts. The
 * last four are thresholds at which work begins: lower values suit deployments whose small
 * repositories are cloned often. */
export interface Limits {
  readonly maxPackSizeBytes: number;
  readonly maxPackObjects: number;
  readonly maxPartBytes: number;
  readonly maxLfsObjectBytes: number;
  readonly maxPackReferences: number;
  readonly maxIndexBytes: number;
  readonly maxObjectSizeBytes: number;
  readonly maxResidentObjectBytes: number;
  readonly maxPushWorkBytes: number;
  readonly maxDeltaDepth: number;
  readonly maxRefsPerPush: number;
  readonly maxCommandBytes: number;
  readonly maxRefBytes: number;
  readonly maxReflogBytes: number;
  readonly maxFetchRequestBytes: number;
  readonly maxWants: number;
  readonly maxHaves: number;
  readonly maxShallows: number;
  readonly maxDeepenNots: number;
  readonly maxRefPrefixes: number;
  /** Limit of each repository's stored bytes, unless the operator has set a quota for it. */
  readonly maxRepositoryBytes: number;
  readonly maxRepositoryObjects: number;
  readonly maxWorktreePathBytes: number;
  readonly freeWorktreeBytes: number;
  readonly maxStoredResponseBytes: number;
  readonly minBundleBytes: number;
  readonly bundleDelayMs: number;
  readonly quietMs: number;
  readonly pruneGraceMs: number;
}

/** The limits without configuration. */
export const DEFAULT_LIMITS: Limits = {
  maxPackSizeBytes: MAX_PACK_SIZE_BYTES,
  maxPackObjects: MAX_PACK_OBJECTS,
  maxPartBytes: MAX_PART_BYTES,
  maxLfsObjectBytes: MAX_LFS_OBJECT_BYTES,
  maxPackReferences: MAX_PACK_REFERENCES,
  maxIndexBytes: MAX_INDEX_BYTES,
  maxObjectSizeBytes: MAX_OBJECT_SIZE_BYTES,
  maxResidentObjectBytes: MAX_RESIDENT_OBJECT_BYTES,
  maxPushWorkBytes: MAX_PUSH_WORK_BYTES,
  maxDeltaDepth: MAX_DELTA_DEPTH,
  maxRefsPerPush: MAX_REFS_PER_PUSH,
  maxCommandBytes: MAX_COMMAND_BYTES,
  maxRefBytes: MAX_REF_BYTES,
  maxReflogBytes: MAX_REFLOG_BYTES,
  maxFetchRequestBytes: MAX_FETCH_REQUEST_BYTES,
  maxWants: MAX_WANTS,
  maxHaves: MAX_HAVES,
  maxShallows: MAX_SHALLOWS,
  maxDeepenNots: MAX_DEEPEN_NOTS,
  maxRefPrefixes: MAX_REF_PREFIXES,
  maxRepositoryBytes: NO_LIMIT,
  maxRepositoryObjects: NO_LIMIT,
  maxWorktreePathBytes: MAX_WORKTREE_PATH_BYTES,
  freeWorktreeBytes: FREE_WORKTREE_BYTES,
  maxStoredResponseBytes: MAX_STORED_RESPONSE_BYTES,
  minBundleBytes: MIN_BUNDLE_BYTES,
  bundleDelayMs: BUNDLE_DELAY_MS,
  quietMs: QUIET_MS,
  pruneGraceMs: PRUNE_GRACE_MS,
};

/** Applies configured limits to the defaults. A limit can only be lowered, since the code relies on
 * the reasons of the defaults (memory of an isolate, time of a request).
 * @throws RangeError if a configured limit is not a non-negative integer, or above its default */
export function lowerLimits(lowered: Partial<Limits>): Limits {
  for (const [name, cap] of Object.entries(lowered) as [keyof Limits, number][]) {
    if (!(Number.isSafeInteger(cap) && cap >= 0 && cap <= DEFAULT_LIMITS[name])) {
      throw new RangeError(`limit ${name} must be an integer from 0 to ${DEFAULT_LIMITS[name]}, not ${cap}`);
    }
  }
  return { ...DEFAULT_LIMITS, ...lowered };
}
