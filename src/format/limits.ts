import { GitError } from "./errors.ts";

// Every cap on what a client can make the server hold, read or compute. A cap is never silent: what
// exceeds it fails with GitError "too-large" carrying the cap, unless its comment says otherwise.

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Bytes of one pushed pack: offsets inside a pack are kept in 32 bits. */
export const MAX_PACK_SIZE_BYTES = 4 * GIB - 1;

/** What a client can do whose pack is too large. */
export const PUSH_LESS = "push the history in parts: git push <remote> <older commit>:refs/heads/<branch> first";

/** Objects of one pushed pack: the indexer's table of entries stays resident, tens of bytes each. */
export const MAX_PACK_OBJECTS = 500_000;

/** References of one pushed pack: what all its commits, trees and tags name, as often as they do. Each is looked at when the push settles, in
 * one transaction: a second for 50 million. The histories of the largest projects have some hundred for each object. */
export const MAX_PACK_REFERENCES = 50_000_000;

/** Bytes of the tables that the indexer keeps of a pack: 70 for each object, 40 for each id that it names beside, and runs of what trees name.
 * With window and ring, which are constants, they are below 64 MiB. */
export const MAX_INDEX_BYTES = 48 * MIB;

/** Inflated bytes of one object: sizes are kept in 32 bits. */
export const MAX_OBJECT_SIZE_BYTES = 4 * GIB - 1;

/** Inflated bytes of an object that must lie in memory whole: a tree, commit or tag. */
export const MAX_RESIDENT_OBJECT_BYTES = 32 * MIB;

/** Inflated bytes of a blob that is stored as a delta: the delta, its base and its result are in
 * memory at once, here when it is pushed and again when it is read, in `LARGE_MEMORY_BYTES`. A
 * larger one that comes as a delta is stored whole. */
export const MAX_DELTA_BLOB_BYTES = 16 * MIB;

/** Bytes of memory of an isolate that are given out as they are asked for. With those below and
 * what the runtime and the code take before any request (10 MB), they are below the 128 MB at
 * which the platform ends an isolate. */
export const COMMON_MEMORY_BYTES = 64 * MIB;

/** Bytes of memory of an isolate that one has at a time: a push whose index or objects outgrow what
 * every push has, or who makes a large object whole. */
export const LARGE_MEMORY_BYTES = 44 * MIB;

/** Milliseconds for which a request waits for memory that others have, before it is told to come
 * again. */
export const BUSY_WAIT_MS = 240_000;

/** Inflated bytes from which an undeltified blob is hashed and stored piece by piece. */
export const STREAM_THRESHOLD_BYTES = 1 * MIB;

/** Work of a push, in bytes that are inflated, hashed or copied; an object counts as 512 more, a
 * byte that is deflated as six. That is what the platform's limit of CPU time allows (300 s), with
 * room: 24 GiB of zeros take 130 s, of small results of deltas 55 s, of noise that is deflated
 * some 200 s (`test/large/push-work`). Real histories need a hundredth, a bomb ends here, while
 * others are served between slices of some 100 ms. */
export const MAX_PUSH_WORK_BYTES = 24 * GIB;

/** Links from a delta to its undeltified base. Chains are walked by iteration; git itself writes at
 * most 4,095, hand-made packs of 5,000 are accepted. */
export const MAX_DELTA_DEPTH = 50_000;

/** Commands of one push: all of them are settled in one transaction. A mirror of a large repository has 100,000 refs. */
export const MAX_REFS_PER_PUSH = 150_000;

/** Bytes of all refs of a repository, 40 besides each name: a clone asks for all of them at once, and the object, which keeps them in
 * memory, hands them to the Worker in one call of 32 MiB. 150,000 refs with names of 70 bytes. */
export const MAX_REF_BYTES = 16 * MIB;

/** Bytes of the reflog's refs. Beyond it the oldest pushes are forgotten before their time, whatever time that is: 100,000 refs that
 * move at once take 10 MB. */
export const MAX_REFLOG_BYTES = 32 * MIB;

/** Bytes of all a push says before its pack: commands, shallow lines, push options. */
export const MAX_COMMAND_BYTES = 16 * MIB;

/** Bytes of a ref name; git sets none, its file systems refuse components above 255. */
export const MAX_REF_NAME_BYTES = 1_024;

/** Milliseconds which the server waits for the next `MIN_BODY_BYTES` of a request's body, or for its
 * end: who is slower ties up a request for nothing, and ends with GitError "timeout". */
export const BODY_WAIT_MS = 30_000;

/** Bytes that must come within `BODY_WAIT_MS`. */
export const MIN_BODY_BYTES = 1 * KIB;

/** Bytes that must come within `BODY_WAIT_MS` of a large push while others wait for its place: there are few such places, and whoever
 * holds one at the least speed of all would hold it for ever. */
export const MIN_CONTENDED_BYTES = 1 * MIB;

/** Decoded bytes per byte of a gzip body, once `GZIP_FLOOR_BYTES` are exceeded: requests are hashes,
 * names and packs, which compress 30-fold at the most. */
export const MAX_GZIP_RATIO = 200;

/** Decoded bytes of a gzip body below which the ratio does not matter. */
export const GZIP_FLOOR_BYTES = 1 * MIB;

/** Bytes of a fetch or ls-refs request, after gunzip. */
export const MAX_FETCH_REQUEST_BYTES = 64 * MIB;

/** `want` lines of one fetch, and `want-ref` lines: a mirror clone asks for every ref, of which `MAX_REF_BYTES` lets no more in. */
export const MAX_WANTS = 350_000;

/** `have` lines of one fetch; stateless clients repeat what is common in every round. */
export const MAX_HAVES = 100_000;

/** `shallow` lines of one fetch: where the client's history is cut, at most once per line of history. */
export const MAX_SHALLOWS = 100_000;

/** `deepen-not` lines of one fetch: each is looked up by the rules for short names of refs. */
export const MAX_DEEPEN_NOTS = 1_000;

/** Bytes of the names in all `want-ref` lines of one fetch: the Worker hands them to the object in one call, which takes 32 MiB. */
export const MAX_WANT_REF_BYTES = 8 * MIB;

/** Bytes of a filter-spec: room for the path of a sparse-checkout file. */
export const MAX_FILTER_BYTES = 16 * KIB;

/** Filters combined into one, on all levels: each object is put to all of them. */
export const MAX_SUB_FILTERS = 64;

/** `ref-prefix` lines of one ls-refs. At this many, all prefixes are ignored and every ref is
 * advertised, as git does (TOO_MANY_PREFIXES in its ls-refs.c): no error, prefixes are a hint. */
export const MAX_REF_PREFIXES = 65_536;

/** Bytes of a sparse-checkout file that filters a fetch, and of a `.gitattributes` file that an archive obeys. */
export const MAX_SPARSE_FILE_BYTES = 64 * KIB;

/** Bytes of the different `.gitattributes` files that hold for one path of an archive: each of their patterns is in memory, read, at some
 * forty times its length. */
export const MAX_ATTRIBUTE_BYTES = 256 * KIB;

/** Patterns in a sparse-checkout file: each is held against every path. */
export const MAX_SPARSE_PATTERNS = 4_096;

/** Steps that directories, paths and patterns may take in one request, beside those that each tree has for itself where a history is
 * walked: a second of the object's one thread, in slices. A search looks at a third of a million paths for it that its globs do not
 * name, or into 20,000 directories in which there is nothing. */
export const MAX_WALK_STEPS = 20_000_000;

/** Steps that all of an archive may take, some fifteen seconds with pauses between: half a million files, with eight hundred steps for each. */
export const MAX_ARCHIVE_STEPS = 20 * MAX_WALK_STEPS;

/** Bytes of a path, wherever paths are followed: what the systems that files are checked out on take (Linux's PATH_MAX), and more levels
 * of directories than git itself goes down (core.maxTreeDepth). */
export const MAX_PATH_BYTES = 4_096;

/** Bytes of the paths of the directories that a fetch with sparse patterns looks into, 192 for each included: a tree has as many as
 * there are ways to it, which no memory need hold. */
export const MAX_SPARSE_PATH_BYTES = 24 * MIB;

/** Bytes of the paths in one archive, 64 for each file and directory included: trees can have paths without end, and a ZIP's directory is
 * in memory. Some 500,000 files. */
export const MAX_ARCHIVE_PATH_BYTES = 64 * MIB;

/** Paths in a row that do not come into an archive, as they are not to or as there is nothing in them; a directory counts for five. Whoever has
 * stopped reading is seen by a byte that cannot be sent, and of these there is none. */
export const MAX_OMITTED_PATHS = 100_000;

/** Milliseconds after which a call that can go on later ends early, and says where: others wait for the object meanwhile. */
export const CALL_MS = 1_000;

/** Steps in which a push's refs are held against the rules for refs, at once: half a second of the object's one thread. */
export const MAX_REF_RULE_STEPS = 10_000_000;

/** Steps in which a push finds out what its commits lead to that their parents do not, besides one for each entry of its trees: a second
 * or two of the object's one thread. */
export const MAX_INTRODUCTION_STEPS = 30_000_000;

/** Objects that commits of one push bring although others brought them before, counted once for each such commit: a row each, a second in
 * all. Files that a thousand releases without a common history share, 500 of them. What a single commit brings is not bounded by it. */
export const MAX_REINTRODUCTIONS = 500_000;

/** Entries of stored trees that a push brings back, each tree counted as one more: they are in memory until it is settled, some tens of megabytes.
 * The largest projects have a few hundred thousand in a commit. */
export const MAX_RETURNED_ENTRIES = 4_000_000;

/** Steps from child to parent by which a push finds out whether protected refs go forward: a second of the object's one thread. */
export const MAX_ANCESTRY_STEPS = 50_000_000;

/** Bytes of a chunk at which it is closed: a chunk of small entries fits a SQLite row (2 MB) while it
 * is hot, and one read of it from R2 carries hundreds of objects. */
export const CHUNK_TARGET_BYTES = 2_000_000;

/** Milliseconds that the bucket may take for one operation, beside those of the bytes that it is given: it takes some tens, seconds when it
 * is overloaded, and a local one whose disk is full takes forever. */
export const STORE_WAIT_MS = 20_000;

/** Bytes that the bucket must take in a second: a hundredth of what it does. */
export const STORE_BYTES_PER_SECOND = 1_000_000;

/** Bytes of one part of a multipart upload: the store wants equal parts of at least 5 MiB, and at
 * 8 MiB the largest object takes 512 of the 10,000 allowed parts. */
export const MULTIPART_PART_BYTES = 8 * MIB;

/** Bytes of a push's stored entries up to which they wait in SQLite and cost no R2 operation. */
export const HOT_PUSH_BYTES = 256 * KIB;

/** Commits through the API that share a transaction, the bytes of their pack from which no further one joins, and how long they may be in the making
 * (ms): each waits for all, and the pack stays inline. */
export const MAX_SHARED_COMMITS = 64;
export const MAX_SHARED_BYTES = HOT_PUSH_BYTES / 2;
export const MAX_SHARED_MS = 50;

/** Bytes of packs from which a repository has a bundle, and from which it is looked at whether to build a new one: below, a clone is
 * a read or two, and asking for the bundle's address costs it more than the bundle saves. */
export const MIN_BUNDLE_BYTES = 4 * MIB;

/** Milliseconds between the push that makes a bundle due and its making: pushes come in bursts. */
export const BUNDLE_DELAY_MS = 60_000;

/** Bytes of all stored responses of a repository: what clients of one day ask for again, not an archive. 0: equal fetches share no
 * work at all, for who would rather pay for CPU than for space. */
export const MAX_STORED_RESPONSE_BYTES = 512 * MIB;

/** Bytes of the plan of a pack, with the chunks that lie in SQLite: an object hands it to the Worker in one call, which takes 32 MiB. Some
 * 1,500,000 objects that are sent one by one; of chunks that are sent whole there is no end. */
export const MAX_PLAN_BYTES = 30 * MIB;

/** Milliseconds for which an object stays after the last ref that led to it has gone: who moved it by mistake finds the old value in the
 * reflog. git's own default (gc.pruneExpire). */
export const PRUNE_GRACE_MS = 14 * 24 * 60 * 60_000;

/** Bytes of the paths in one change of a worktree, 64 for each file and directory included: trees can name themselves so often that no
 * memory holds the paths. Some 300,000 files. A branch beyond it is not materialized. */
export const MAX_WORKTREE_PATH_BYTES = 32 * MIB;

/** Branches that are materialized: each costs a row at every push, and its files' space. */
export const MAX_WORKTREES = 100;

/** Milliseconds without a request after which jobs begin: works of people follow each other at once, and jobs would compete with the next.
 * 0: they begin as soon as they are due, whoever waits. */
export const QUIET_MS = 3_000;

/** Of what has no cap unless it is configured. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** The caps that configuration may lower, by name: sizes in bytes, the rest counts. The last four cap nothing a client
 * does, but say when work is begun: lower ones are for those who clone small repositories often. */
export interface Limits {
  readonly maxPackSizeBytes: number;
  readonly maxPackObjects: number;
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
  /** What each repository may hold, as it is stored, unless the operator has set a quota for it. */
  readonly maxRepositoryBytes: number;
  readonly maxRepositoryObjects: number;
  readonly maxWorktreePathBytes: number;
  readonly maxStoredResponseBytes: number;
  readonly minBundleBytes: number;
  readonly bundleDelayMs: number;
  readonly quietMs: number;
  readonly pruneGraceMs: number;
}

/** The caps as they are without configuration. */
export const DEFAULT_LIMITS: Limits = {
  maxPackSizeBytes: MAX_PACK_SIZE_BYTES,
  maxPackObjects: MAX_PACK_OBJECTS,
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
  maxStoredResponseBytes: MAX_STORED_RESPONSE_BYTES,
  minBundleBytes: MIN_BUNDLE_BYTES,
  bundleDelayMs: BUNDLE_DELAY_MS,
  quietMs: QUIET_MS,
  pruneGraceMs: PRUNE_GRACE_MS,
};

/** Bytes of a JSON body: files come in it as text or base64, and it is in memory twice while it is parsed. */
export const MAX_JSON_BYTES = 24 * 1024 * 1024;

/** Levels of arrays and objects in a JSON body. */
export const MAX_JSON_DEPTH = 64;

/** Applies configured caps to the defaults. A cap can only be lowered: the code relies on the
 * defaults' reasons (32-bit offsets, memory of an isolate).
 * @throws RangeError if a configured cap is not a non-negative integer, or above its default */
export function lowerLimits(lowered: Partial<Limits>): Limits {
  for (const [name, cap] of Object.entries(lowered) as [keyof Limits, number][]) {
    if (!(Number.isSafeInteger(cap) && cap >= 0 && cap <= DEFAULT_LIMITS[name])) {
      throw new RangeError(`limit ${name} must be an integer from 0 to ${DEFAULT_LIMITS[name]}, not ${cap}`);
    }
  }
  return { ...DEFAULT_LIMITS, ...lowered };
}

/** Refuses a size or count above its cap.
 * @param what the noun for the message, e.g. "the pack"
 * @param reason what can be done about it
 * @throws GitError "too-large" with what, limit, actual */
export function checkLimit(what: string, limit: number, actual: number, reason?: string): void {
  if (actual > limit) throw new GitError("too-large", { what, limit, actual, reason });
}
