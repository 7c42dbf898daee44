import { GitError } from "./errors.ts";

// All limits on the data and work that a client can cause the server. Exceeding one is an error,
// GitError "too-large" with the limit, unless its comment says otherwise.

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Bytes of one pushed pack. The limit of a push's work allows this much with a margin
 * (`MAX_PUSH_WORK_BYTES`; bytes that do not compress count once), and it is a fifth of R2's limit
 * for one multipart object. Sizes and offsets themselves are exact up to 2^53. */
export const MAX_PACK_SIZE_BYTES = 16 * GIB;

/** Advice for removing a file that is too large from a history. */
export const SHED_FILE =
  "move it to Git LFS (git lfs migrate import), remove it from the history (git filter-repo), or split it";

/** Bytes of one part of an upload: the platform limits a body to 100 MB. */
export const MAX_PART_BYTES = 90_000_000;

/** Lower bound of a part's bytes, if its pack continues in another part and the step is indexed
 * while parts arrive. A smaller part is the last. */
export const MIN_INNER_PART_BYTES = 1 * MIB;

/** Tips of a pack in a request's body. Its URL carries them: 4 KB of the 8 that proxies accept. */
export const MAX_SENT_TIPS = 100;

/** Milliseconds in which a part must arrive: 50 kB a second for the largest. */
export const PART_WAIT_MS = 30 * 60_000;

/** Parts of an upload session that are stored at a time. A step frees its own parts, and the
 * largest step, `MAX_PACK_SIZE_BYTES`, has 191 parts of the largest size. */
export const MAX_UPLOAD_PARTS = 1_000;

/** Upload sessions of a repository at a time. Their objects are not pruned while they run. */
export const MAX_UPLOADS = 64;

/** Objects that the steps of an upload session ended with and no later step reaches: one row. */
export const MAX_UPLOAD_TIPS = 90_000;

/** Milliseconds after which an idle upload session ends. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60_000;

/** Bytes of one request to R2: of an LFS object, or of a worktree file, written in one request. */
export const MAX_PUT_BYTES = 5 * GIB - 5 * MIB;

/** Number of parts of an LFS object, and lower bound of their bytes except the last: R2's
 * limits. */
export const MAX_LFS_PARTS = 10_000;
export const MIN_LFS_PART_BYTES = 5 * MIB;

/** Bytes of a part: the overhead of a request is negligible, and a failed part is cheap to repeat.
 * Objects that would have more than `MAX_LFS_PARTS` of them have larger ones. */
export const LFS_PART_BYTES = 32 * MIB;

/** Bytes of one LFS object: the largest number of parts, of 85 MiB each, the largest whole number
 * of MiB within `MAX_PART_BYTES`. */
export const MAX_LFS_OBJECT_BYTES = MAX_LFS_PARTS * 85 * MIB;

/** LFS uploads in parts that a repository may have at a time. */
export const MAX_LFS_PART_UPLOADS = 64;

/** Bytes per second at which an LFS object must arrive. */
export const MIN_LFS_BYTES_PER_SECOND = 50_000;

/** LFS objects of a repository: one call passes their keys to a fork, and takes 32 MiB. */
export const MAX_LFS_OBJECTS = 100_000;

/** LFS objects of a repository that clients may be sending to the bucket directly at a time,
 * including those about to be removed: each has a row among the jobs. */
export const MAX_LFS_UPLOADS = 10_000;

/** LFS objects in one batch request. The git-lfs client requests 100 at a time. */
export const MAX_LFS_BATCH = 1_000;

/** Bytes of an LFS request's JSON. */
export const MAX_LFS_JSON_BYTES = 1 * MIB;

/** LFS locks of a repository, and of one page. */
export const MAX_LFS_LOCKS = 10_000;
export const MAX_LFS_LOCKS_PAGE = 1_000;

/** Objects of one pushed pack. The index spills to SQLite, except four bytes per object: the search
 * by id. */
export const MAX_PACK_OBJECTS = 5_000_000;

/** References in one pushed pack: every mention of an object by its commits, trees and tags. The
 * largest histories have some hundred per object. The limit of a push's work hardly allows more. */
export const MAX_PACK_REFERENCES = 500_000_000;

/** Bytes of memory for the indexer's tables of one pack; window and ring take 12 MB more. Tables
 * that outgrow it spill to SQLite, page by page. An error only for data outside of pages: the
 * search by id, 6 bytes for each object and each other id that the pack mentions, and LFS
 * pointers. */
export const MAX_INDEX_BYTES = 40 * MIB;

/** Inflated bytes of one object, for the same reasons as `MAX_PACK_SIZE_BYTES`: an object can be a
 * whole pack. */
export const MAX_OBJECT_SIZE_BYTES = 16 * GIB;

/** Inflated bytes of an object that must be in memory as a whole: a tree, commit or tag. */
export const MAX_RESIDENT_OBJECT_BYTES = 32 * MIB;

/** Inflated bytes of a blob that is stored as a delta. Delta, base and result are in memory at
 * once, within `LARGE_MEMORY_BYTES`, both when the blob is pushed and when it is read. A larger
 * blob that arrives as a delta is stored undeltified. */
export const MAX_DELTA_BLOB_BYTES = 16 * MIB;

/** Memory of an isolate that requests share, in bytes. With `LARGE_MEMORY_BYTES` it leaves 32 MiB
 * of the platform's 128 MB to runtime and code, which take 16 at the start and 32 after a hundred
 * repositories. */
export const COMMON_MEMORY_BYTES = 60 * MIB;

/** Memory of an isolate that only one request has at a time, in bytes: a push whose index or
 * objects outgrow a push's common share, or a request that undeltifies a large object. */
export const LARGE_MEMORY_BYTES = 36 * MIB;

/** Milliseconds for which a request waits for memory in use before it fails with the advice to
 * retry. */
export const BUSY_WAIT_MS = 240_000;

/** Inflated bytes from which an undeltified blob is hashed and stored piece by piece. */
export const STREAM_THRESHOLD_BYTES = 1 * MIB;

/** Work of a push, in bytes inflated, hashed or copied; an object counts as 512 more, a name in a
 * tree as 48, a deflated byte as six. The limit fits into the platform's limit of CPU time (300 s)
 * with a margin: 24 GiB of zeros take 130 s, of small delta results 55 s, of deflated noise some
 * 200 s (`test/large/push-work`). Real histories need a hundredth of it. It stops a decompression
 * bomb, while other requests are served between slices of some 25 ms. */
export const MAX_PUSH_WORK_BYTES = 24 * GIB;

/** Deltas between an object and its undeltified base. Chains are walked without recursion. Git
 * itself writes at most 4,095; hand-made packs with 5,000 are accepted. */
export const MAX_DELTA_DEPTH = 50_000;

/** Paths in the filter of a commit, directories included, as in git. A commit that changes more
 * gets a filter that rules out no path. No error. */
export const MAX_FILTER_PATHS = 512;

/** Bytes of the paths that a commit changes, and of the trees that are compared to find them.
 * Beyond either, or with a single tree above `MAX_FILTER_TREE_BYTES`, the commit's filter rules out
 * no path: the trees of a hostile commit stand for more paths than can be listed. No error. */
export const MAX_FILTER_PATH_BYTES = 1 * MIB;
export const MAX_FILTER_TREES_BYTES = 32 * MIB;
export const MAX_FILTER_TREE_BYTES = 4 * MIB;

/** Commands of one push, which are applied in one transaction. A mirror of a large repository has
 * 100,000 refs. */
export const MAX_REFS_PER_PUSH = 150_000;

/** Bytes of all refs of a repository, 40 for each besides its name. A clone requests all of them at
 * once; the object keeps them in memory and passes them to the Worker in one call, which takes 32
 * MiB. Enough for 150,000 refs with names of 70 bytes. */
export const MAX_REF_BYTES = 16 * MIB;

/** Bytes of the directories of all refs that one push names: each directory counts once per ref in
 * it, with its name and `REF_DIRECTORY_BYTES`. They are in memory to find names that are also
 * directories. 150,000 refs with names of 70 bytes and five levels take 40 MiB; a name of 1,000
 * bytes may have 500 levels, which take 0.25 MiB. */
export const MAX_REF_DIRECTORIES_BYTES = 64 * MIB;
export const REF_DIRECTORY_BYTES = 16;

/** Bytes of refs in the reflog. Beyond it, the oldest pushes are dropped before they expire.
 * 100,000 refs that move at once take 10 MB. */
export const MAX_REFLOG_BYTES = 32 * MIB;

/** Bytes of a push before its pack: commands, shallow lines, push options. */
export const MAX_COMMAND_BYTES = 16 * MIB;

/** Bytes of a ref name. Git sets no limit; file systems refuse components above 255. */
export const MAX_REF_NAME_BYTES = 1_024;

/** Milliseconds in which the next `MIN_BODY_BYTES` of a request's body, or its end, must arrive. A
 * slower client only occupies a request, and gets GitError "timeout". */
export const BODY_WAIT_MS = 30_000;

/** Bytes that must arrive within `BODY_WAIT_MS`. */
export const MIN_BODY_BYTES = 1 * KIB;

/** Bytes of a large push that must arrive within `BODY_WAIT_MS` while others wait for its memory:
 * otherwise it could hold the memory forever at the lowest speed. */
export const MIN_CONTENDED_BYTES = 1 * MIB;

/** Decoded bytes per byte of a gzip body, beyond `GZIP_FLOOR_BYTES`. Requests contain hashes, names
 * and packs, which compress at most 30-fold. */
export const MAX_GZIP_RATIO = 200;

/** Decoded bytes of a gzip body below which the ratio is not checked. */
export const GZIP_FLOOR_BYTES = 1 * MIB;

/** Bytes of a fetch or ls-refs request, after gunzip. */
export const MAX_FETCH_REQUEST_BYTES = 64 * MIB;

/** `want` lines of one fetch, and `want-ref` lines: a mirror clone wants every ref, and
 * `MAX_REF_BYTES` allows no more. */
export const MAX_WANTS = 350_000;

/** `have` lines of one fetch. Stateless clients repeat the common ones in every round. */
export const MAX_HAVES = 100_000;

/** `shallow` lines of one fetch: the client's boundary, at most one per line of history. */
export const MAX_SHALLOWS = 100_000;

/** `deepen-not` lines of one fetch, each of which is resolved like a short ref name. */
export const MAX_DEEPEN_NOTS = 1_000;

/** Bytes of the names in all `want-ref` lines of one fetch: the Worker passes them to the object in
 * one call, which takes 32 MiB. */
export const MAX_WANT_REF_BYTES = 8 * MIB;

/** Bytes of a filter-spec: enough for the path of a sparse-checkout file. */
export const MAX_FILTER_BYTES = 16 * KIB;

/** Filters combined into one, on all levels. Each object is tested with all of them. */
export const MAX_SUB_FILTERS = 64;

/** `ref-prefix` lines of one ls-refs. From this many on, all prefixes are ignored and every ref is
 * advertised, as git does (TOO_MANY_PREFIXES in its ls-refs.c). No error, since prefixes are a
 * hint. */
export const MAX_REF_PREFIXES = 65_536;

/** Bytes of a sparse-checkout file that filters a fetch, and of a `.gitattributes` file that
 * applies to an archive or a merge. */
export const MAX_SPARSE_FILE_BYTES = 64 * KIB;

/** Bytes of the different `.gitattributes` files that apply to one path of an archive. Parsed
 * patterns take some forty times their length in memory. */
export const MAX_ATTRIBUTE_BYTES = 256 * KIB;

/** Bytes by which placeholders (`export-subst`) may make a file of an archive larger, as the file
 * is in memory as a whole. Files and commits above this size are not expanded. The short ids of
 * more parents than `MAX_SUBST_PARENTS` are not expanded either, because each is looked up. */
export const MAX_SUBST_BYTES = MIB;
export const MAX_SUBST_PARENTS = 64;

/** Bytes of the `.gitattributes` files that one merge reads. All of them stay in memory. */
export const MAX_MERGE_ATTRIBUTE_BYTES = 256 * KIB;

/** Patterns in a sparse-checkout file. Each is matched with every path. */
export const MAX_SPARSE_PATTERNS = 4_096;

/** Steps that one request may spend on directories, paths and patterns, in addition to those
 * granted for each tree of a history walk: a second of the object's one thread, in slices. Within
 * them a search visits a third of a million paths that its globs do not match, or 20,000 empty
 * directories. */
export const MAX_WALK_STEPS = 20_000_000;

/** Bytes of the paths in one page of a list of files, or in one window of files that are read. The
 * object passes them to the Worker in one call, which takes 32 MiB, and small trees can repeat long
 * names. Pages of ordinary repositories are far below. */
export const MAX_PAGE_PATH_BYTES = 4 * MIB;

/** Steps for a whole archive, some fifteen seconds with pauses between: half a million files, with
 * eight hundred steps for each. */
export const MAX_ARCHIVE_STEPS = 20 * MAX_WALK_STEPS;

/** Bytes of a path, wherever paths are followed: the limit of operating systems for checked-out
 * files (Linux's PATH_MAX), and deeper than git itself goes (core.maxTreeDepth). */
export const MAX_PATH_BYTES = 4_096;

/** Bytes of the directory paths that a fetch with sparse patterns visits, plus 192 for each. A tree
 * has one path per way to it, possibly too many for memory. */
export const MAX_SPARSE_PATH_BYTES = 24 * MIB;

/** Bytes of the paths in one archive, plus 64 for each file and directory: trees can have endless
 * paths, and a ZIP's directory is kept in memory. Enough for some 500,000 files. */
export const MAX_ARCHIVE_PATH_BYTES = 64 * MIB;

/** Consecutive paths that an archive omits, because they are excluded or empty; a directory counts
 * for five. Only a failing write shows that the client has disconnected, and omitted paths write
 * nothing. */
export const MAX_OMITTED_PATHS = 100_000;

/** Steps of about 20 µs after which a call that can be continued ends early, with a cursor: other
 * requests wait meanwhile. A second of work, whatever the clock shows. */
export const CALL_STEPS = 50_000;

/** Steps for checking a push's refs against the ref rules without a pause: half a second of the
 * object's one thread. */
export const MAX_REF_RULE_STEPS = 10_000_000;

/** Steps for finding the objects that a push's commits introduce, in addition to one for each entry
 * of its trees: a second or two of the object's one thread. */
export const MAX_INTRODUCTION_STEPS = 30_000_000;

/** Objects that commits of one push introduce although earlier commits introduced them already,
 * counted once for each such commit: a row each, a second in all. For example 500 files shared by a
 * thousand releases without a common history. A single commit is not limited. */
export const MAX_REINTRODUCTIONS = 500_000;

/** Entries of stored trees that a push reintroduces, with one more for each tree: some tens of
 * megabytes, in memory until the push is applied. The largest projects have a few hundred thousand
 * in a commit. */
export const MAX_RETURNED_ENTRIES = 4_000_000;

/** Steps from child to parent for checking that protected refs are fast-forwarded: a second of the
 * object's one thread. */
export const MAX_ANCESTRY_STEPS = 50_000_000;

/** Bytes at which a chunk is closed: a chunk of small entries fits a SQLite row (2 MB) while it is
 * hot, and one read of it from R2 returns hundreds of objects. */
export const CHUNK_TARGET_BYTES = 2_000_000;

/** Milliseconds for one operation of the bucket, in addition to the time for its bytes. Usual are
 * some tens; seconds under overload; no end in a local bucket whose disk is full. */
export const STORE_WAIT_MS = 20_000;

/** Bytes per second that the bucket must accept: a hundredth of its usual speed. */
export const STORE_BYTES_PER_SECOND = 1_000_000;

/** Bytes of one part of a multipart upload: R2 requires equal parts of at least 5 MiB, and with 8
 * MiB the largest object takes 2,048 of the 10,000 allowed parts. */
export const MULTIPART_PART_BYTES = 8 * MIB;

/** Stored bytes of a push up to which its entries stay in SQLite and cost no R2 operation. */
export const HOT_PUSH_BYTES = 256 * KIB;

/** Limits of commits through the API that share a transaction: their number, the bytes of their
 * pack from which no further commit joins, and the time for drafting them (ms). Each commit waits
 * for all, and the pack stays inline. */
export const MAX_SHARED_COMMITS = 64;
export const MAX_SHARED_BYTES = HOT_PUSH_BYTES / 2;
export const MAX_SHARED_MS = 50;

/** Bytes of packs from which a repository gets a bundle, and from which a push checks whether a new
 * one is due. Below, a clone is a read or two, and requesting the bundle's address costs the client
 * more than the bundle saves. */
export const MIN_BUNDLE_BYTES = 4 * MIB;

/** Milliseconds between the push that makes a bundle due and its building, because pushes come in
 * bursts. */
export const BUNDLE_DELAY_MS = 60_000;

/** Bytes of all stored responses of a repository. They serve repeated requests of one day and are
 * no archive. 0: equal fetches share no work, for deployments that prefer CPU costs to storage
 * costs. */
export const MAX_STORED_RESPONSE_BYTES = 512 * MIB;

/** Bytes of a pack's plan, with the chunks that are in SQLite. An object passes it to the Worker in
 * one call, which takes 32 MiB. Enough for some 1,500,000 objects that are sent one by one; chunks
 * that are sent whole are not limited. */
export const MAX_PLAN_BYTES = 30 * MIB;

/** Milliseconds for which an object is kept after it became unreachable: after a mistake, the
 * reflog still has the ref's old value. Git's own default (gc.pruneExpire). */
export const PRUNE_GRACE_MS = 14 * 24 * 60 * 60_000;

/** Bytes of the paths in one change of a worktree, plus 64 for each: trees can repeat each other,
 * and all of their paths fit no memory. Enough for some 300,000 files. A branch beyond it is not
 * materialized. */
export const MAX_WORKTREE_PATH_BYTES = 32 * MIB;

/** Limit for the files of all materialized branches: these bytes, plus this many times the stored
 * bytes. One blob may be at any number of paths; ordinary files are five times the pack of their
 * history. */
export const FREE_WORKTREE_BYTES = 64 * MIB;
export const WORKTREE_BYTES_PER_STORED = 32;

/** Branches that are materialized: each costs a row per push, and the space of its files. */
export const MAX_WORKTREES = 100;

/** Milliseconds without a request after which jobs begin: people's actions follow each other
 * closely, and jobs would delay the next one. 0: they begin as soon as they are due. */
export const QUIET_MS = 3_000;

/** Value of a limit that applies only if configured. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Bytes of a JSON body: it contains files as text or base64, and is in memory twice while it is
 * parsed. */
export const MAX_JSON_BYTES = 24 * 1024 * 1024;

/** Operations of one commit through the API, and directories on their paths: a few megabytes of
 * paths can name a million directories, each of which needs an object. */
export const MAX_COMMIT_OPERATIONS = 10_000;
export const MAX_COMMIT_DIRECTORIES = 20_000;

/** Bytes of the trees that one commit through the API changes. They are in memory until the commit
 * is made, with the changed trees. */
export const MAX_COMMIT_TREE_BYTES = MAX_RESIDENT_OBJECT_BYTES;

/** Levels of arrays and objects in a JSON body. */
export const MAX_JSON_DEPTH = 64;

/** Refuses a size or count above its limit.
 * @param what noun for the message, e.g. "the pack"
 * @param reason advice for the client
 * @throws GitError "too-large" with what, limit, actual */
export function checkLimit(what: string, limit: number, actual: number, reason?: string): void {
  if (actual > limit) throw new GitError("too-large", { what, limit, actual, reason });
}

/** Bytes of a file, old and new version together, up to which it is compared. Both are in memory
 * with their lines. */
export const MAX_COMPARED_BYTES = 8 * 1024 * 1024;
