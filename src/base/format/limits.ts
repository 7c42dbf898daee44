import { GitError } from "./errors.ts";

// Every limit on what a client can make the server hold, read or compute. Exceeding one is an
// error, GitError "too-large" with the limit, unless its comment says otherwise.

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/** Bytes of one pushed pack: what a push's work allows with a margin (`MAX_PUSH_WORK_BYTES`; bytes
 * that do not compress count once), and a fifth of what R2 takes as one object of many parts. Sizes
 * and offsets themselves are exact up to 2^53. */
export const MAX_PACK_SIZE_BYTES = 16 * GIB;

/** How a history loses a file that is too large. */
export const SHED_FILE =
  "move it to Git LFS (git lfs migrate import), remove it from the history (git filter-repo), or split it";

/** Bytes of one part of an upload: the platform ends a body at 100 MB. */
export const MAX_PART_BYTES = 90_000_000;

/** Bytes that a part has at least, if its pack goes on in another one and its step is indexed while
 * parts arrive. A smaller one is the last. */
export const MIN_INNER_PART_BYTES = 1 * MIB;

/** Tips of a pack that comes in a request's body: they are in its URL, 4 KB of 8 that everything on
 * the way takes. */
export const MAX_SENT_TIPS = 100;

/** Milliseconds in which a part must have arrived: 50 kB a second for the largest. */
export const PART_WAIT_MS = 30 * 60_000;

/** Parts of an upload session that are stored at a time. A step frees its own, and the largest
 * step, `MAX_PACK_SIZE_BYTES`, has 191 of the largest size. */
export const MAX_UPLOAD_PARTS = 1_000;

/** Upload sessions of a repository at a time: nothing that they brought is pruned meanwhile. */
export const MAX_UPLOADS = 64;

/** Objects that the steps of an upload session have ended with and that no later step reaches: they
 * are in one row. */
export const MAX_UPLOAD_TIPS = 90_000;

/** Milliseconds for which an upload session waits to be continued. */
export const UPLOAD_LIFE_MS = 24 * 60 * 60_000;

/** Bytes that R2 takes in one request: of an LFS object that comes in one, and of a worktree's file
 * that is written in one. */
export const MAX_PUT_BYTES = 5 * GIB - 5 * MIB;

/** Parts of an LFS object that comes in parts, and bytes of each but the last: what R2 takes. */
export const MAX_LFS_PARTS = 10_000;
export const MIN_LFS_PART_BYTES = 5 * MIB;

/** Bytes of a part that is large enough not to be felt, and small enough to be sent again. Objects
 * that would have more than `MAX_LFS_PARTS` of them have larger ones. */
export const LFS_PART_BYTES = 32 * MIB;

/** Bytes of one LFS object: as many parts as there may be, of 85 MiB, the most whole MiB that are
 * no more than `MAX_PART_BYTES`. */
export const MAX_LFS_OBJECT_BYTES = MAX_LFS_PARTS * 85 * MIB;

/** Uploads of LFS objects in parts that a repository may have under way. */
export const MAX_LFS_PART_UPLOADS = 64;

/** Bytes per second at which an LFS object must arrive. */
export const MIN_LFS_BYTES_PER_SECOND = 50_000;

/** LFS objects of a repository: their keys are told to forks in one call, which takes 32 MiB. */
export const MAX_LFS_OBJECTS = 100_000;

/** LFS objects of a repository that clients may be sending to the bucket themselves at a time, with
 * those that are about to be removed: each has a row among the jobs. */
export const MAX_LFS_UPLOADS = 10_000;

/** LFS objects in one batch request. The client asks for 100 at a time. */
export const MAX_LFS_BATCH = 1_000;

/** Bytes of an LFS request's JSON. */
export const MAX_LFS_JSON_BYTES = 1 * MIB;

/** LFS locks of a repository, and in one answer about them. */
export const MAX_LFS_LOCKS = 10_000;
export const MAX_LFS_LOCKS_PAGE = 1_000;

/** Objects of one pushed pack. What memory does not take of its index goes to SQLite, but four
 * bytes for each stay: the search by id. */
export const MAX_PACK_OBJECTS = 5_000_000;

/** References in one pushed pack: every mention of an object by its commits, trees and tags. The
 * largest histories have some hundred per object. A push's work allows hardly more. */
export const MAX_PACK_REFERENCES = 500_000_000;

/** Bytes of memory for the indexer's tables of one pack; window and ring take 12 MB besides. Tables
 * that outgrow it go to SQLite, page by page. An error only for what is not in pages: the search by
 * id, 6 bytes for each object and for each other id that the pack mentions, and LFS pointers. */
export const MAX_INDEX_BYTES = 40 * MIB;

/** Inflated bytes of one object, for the same reasons: it may be all of a pack. */
export const MAX_OBJECT_SIZE_BYTES = 16 * GIB;

/** Inflated bytes of an object that must be in memory as a whole: a tree, commit or tag. */
export const MAX_RESIDENT_OBJECT_BYTES = 32 * MIB;

/** Inflated bytes of a blob that is stored as a delta: delta, base and result are in memory at
 * once, within `LARGE_MEMORY_BYTES`, when it is pushed and again when it is read. A larger blob
 * that arrives as a delta is stored undeltified. */
export const MAX_DELTA_BLOB_BYTES = 16 * MIB;

/** Memory of an isolate that requests share, in bytes. With `LARGE_MEMORY_BYTES` it leaves 32 MiB
 * of the platform's 128 MB to runtime and code: they take 16 at the start, 32 after a hundred
 * repositories. */
export const COMMON_MEMORY_BYTES = 60 * MIB;

/** Memory of an isolate that only one request has at a time, in bytes: a push whose index or
 * objects outgrow every push's share, or a request that undeltifies a large object. */
export const LARGE_MEMORY_BYTES = 36 * MIB;

/** Milliseconds for which a request waits for memory that others use, until it is told to retry. */
export const BUSY_WAIT_MS = 240_000;

/** Inflated bytes from which an undeltified blob is hashed and stored piece by piece. */
export const STREAM_THRESHOLD_BYTES = 1 * MIB;

/** Work of a push, in bytes inflated, hashed or copied; an object counts as 512 more, a name in a
 * tree as 48, a deflated byte as six. This fits into the platform's limit of CPU time (300 s) with
 * a margin: 24 GiB of zeros take 130 s, of small delta results 55 s, of deflated noise some 200 s
 * (`test/large/push-work`). Real histories need a hundredth of it. A decompression bomb ends here,
 * while other requests are served between slices of some 25 ms. */
export const MAX_PUSH_WORK_BYTES = 24 * GIB;

/** Deltas between an object and its undeltified base. Chains are walked without recursion. Git
 * itself writes at most 4,095; hand-made packs with 5,000 are accepted. */
export const MAX_DELTA_DEPTH = 50_000;

/** Paths in the filter of a commit, directories among them, as in git. A commit that changes more
 * gets a filter that rules out no path. No error. */
export const MAX_FILTER_PATHS = 512;

/** Bytes of the paths that a commit changes, and of the trees that are compared to find them.
 * Beyond either, or with a single tree above `MAX_FILTER_TREE_BYTES`, its filter rules out no path:
 * the trees of a hostile commit stand for more paths than can be listed. No error. */
export const MAX_FILTER_PATH_BYTES = 1 * MIB;
export const MAX_FILTER_TREES_BYTES = 32 * MIB;
export const MAX_FILTER_TREE_BYTES = 4 * MIB;

/** Commands of one push: all are applied in one transaction. A mirror of a large repository has
 * 100,000 refs. */
export const MAX_REFS_PER_PUSH = 150_000;

/** Bytes of all refs of a repository, 40 for each besides its name. A clone asks for all of them at
 * once; the object keeps them in memory and passes them to the Worker in one call, which takes 32
 * MiB. Enough for 150,000 refs with names of 70 bytes. */
export const MAX_REF_BYTES = 16 * MIB;

/** Bytes of the directories of all refs that one push names, each as often as a ref is in it: their
 * names, and `REF_DIRECTORY_BYTES` each. They show which names are directories as well, in memory.
 * 150,000 refs with names of 70 bytes and five levels take 40 MiB; a name of 1,000 bytes may have
 * 500 levels, which take 0.25 MiB. */
export const MAX_REF_DIRECTORIES_BYTES = 64 * MIB;
export const REF_DIRECTORY_BYTES = 16;

/** Bytes of refs in the reflog. Beyond it the oldest pushes are dropped before they expire. 100,000
 * refs that move at once take 10 MB. */
export const MAX_REFLOG_BYTES = 32 * MIB;

/** Bytes of a push before its pack: commands, shallow lines, push options. */
export const MAX_COMMAND_BYTES = 16 * MIB;

/** Bytes of a ref name. Git sets no limit; file systems refuse components above 255. */
export const MAX_REF_NAME_BYTES = 1_024;

/** Milliseconds in which the next `MIN_BODY_BYTES` of a request's body, or its end, must arrive. A
 * slower client only ties up a request; it gets GitError "timeout". */
export const BODY_WAIT_MS = 30_000;

/** Bytes that must arrive within `BODY_WAIT_MS`. */
export const MIN_BODY_BYTES = 1 * KIB;

/** Bytes of a large push that must arrive within `BODY_WAIT_MS` while others wait for its memory:
 * only one has it, and could hold it for ever at the lowest speed. */
export const MIN_CONTENDED_BYTES = 1 * MIB;

/** Decoded bytes per byte of a gzip body, beyond `GZIP_FLOOR_BYTES`. Requests are hashes, names and
 * packs, which compress at most 30-fold. */
export const MAX_GZIP_RATIO = 200;

/** Decoded bytes of a gzip body below which the ratio is not checked. */
export const GZIP_FLOOR_BYTES = 1 * MIB;

/** Bytes of a fetch or ls-refs request, after gunzip. */
export const MAX_FETCH_REQUEST_BYTES = 64 * MIB;

/** `want` lines of one fetch, and `want-ref` lines: a mirror clone asks for every ref, and
 * `MAX_REF_BYTES` allows no more. */
export const MAX_WANTS = 350_000;

/** `have` lines of one fetch. Stateless clients repeat the common ones in every round. */
export const MAX_HAVES = 100_000;

/** `shallow` lines of one fetch: the client's boundary, at most once per line of history. */
export const MAX_SHALLOWS = 100_000;

/** `deepen-not` lines of one fetch: each is resolved like a short ref name. */
export const MAX_DEEPEN_NOTS = 1_000;

/** Bytes of the names in all `want-ref` lines of one fetch: the Worker passes them to the object in
 * one call, which takes 32 MiB. */
export const MAX_WANT_REF_BYTES = 8 * MIB;

/** Bytes of a filter-spec: enough for the path of a sparse-checkout file. */
export const MAX_FILTER_BYTES = 16 * KIB;

/** Filters combined into one, on all levels: each object is tested with all of them. */
export const MAX_SUB_FILTERS = 64;

/** `ref-prefix` lines of one ls-refs. From this many on, all prefixes are ignored and every ref is
 * advertised, as git does (TOO_MANY_PREFIXES in its ls-refs.c). It is not an error, since prefixes
 * are a hint. */
export const MAX_REF_PREFIXES = 65_536;

/** Bytes of a sparse-checkout file that filters a fetch, and of a `.gitattributes` file that
 * applies to an archive or a merge. */
export const MAX_SPARSE_FILE_BYTES = 64 * KIB;

/** Bytes of the different `.gitattributes` files that apply to one path of an archive. Parsed
 * patterns take some forty times their length in memory. */
export const MAX_ATTRIBUTE_BYTES = 256 * KIB;

/** Bytes by which placeholders (`export-subst`) may make a file of an archive larger: it is in
 * memory as a whole. Of a file or a commit above this size none is expanded, nor are the short ids
 * of more parents than `MAX_SUBST_PARENTS`: each is looked up. */
export const MAX_SUBST_BYTES = MIB;
export const MAX_SUBST_PARENTS = 64;

/** Bytes of the `.gitattributes` files that one merge reads, all of which stay in memory. */
export const MAX_MERGE_ATTRIBUTE_BYTES = 256 * KIB;

/** Patterns in a sparse-checkout file: each is matched with every path. */
export const MAX_SPARSE_PATTERNS = 4_096;

/** Steps that one request may spend on directories, paths and patterns, in addition to those
 * granted for each tree of a history walk: a second of the object's one thread, in slices. For
 * this a search visits a third of a million paths that its globs do not match, or 20,000 empty
 * directories. */
export const MAX_WALK_STEPS = 20_000_000;

/** Bytes of the paths in one page of a list of files, or in one window of files that are read: the
 * object passes them to the Worker in one call, which takes 32 MiB, and small trees can repeat long
 * names. Pages of files that people name are far below. */
export const MAX_PAGE_PATH_BYTES = 4 * MIB;

/** Steps for a whole archive, some fifteen seconds with pauses between: half a million files, with
 * eight hundred steps for each. */
export const MAX_ARCHIVE_STEPS = 20 * MAX_WALK_STEPS;

/** Bytes of a path, wherever paths are followed: the limit of systems that files are checked out on
 * (Linux's PATH_MAX), and deeper than git itself goes (core.maxTreeDepth). */
export const MAX_PATH_BYTES = 4_096;

/** Bytes of the directory paths that a fetch with sparse patterns visits, plus 192 for each: a tree
 * has as many paths as there are ways to it, which may be too many for memory. */
export const MAX_SPARSE_PATH_BYTES = 24 * MIB;

/** Bytes of the paths in one archive, plus 64 for each file and directory: trees can have endless
 * paths, and a ZIP's directory is kept in memory. Enough for some 500,000 files. */
export const MAX_ARCHIVE_PATH_BYTES = 64 * MIB;

/** Paths in a row that an archive omits, because they are excluded or empty; a directory counts for
 * five. Only a byte that cannot be sent shows that the client has disconnected, and omitted paths
 * send none. */
export const MAX_OMITTED_PATHS = 100_000;

/** Steps of about 20 µs after which a call that can be continued ends early, with a cursor: other
 * requests wait for the object meanwhile. A second of work, however long the clock takes for it. */
export const CALL_STEPS = 50_000;

/** Steps for checking a push's refs against the ref rules without a pause: half a second of the
 * object's one thread. */
export const MAX_REF_RULE_STEPS = 10_000_000;

/** Steps for finding the objects that a push's commits introduce, in addition to one for each entry
 * of its trees: a second or two of the object's one thread. */
export const MAX_INTRODUCTION_STEPS = 30_000_000;

/** Objects that commits of one push introduce although earlier commits did so already, counted once
 * for each such commit: a row each, a second in all. For example 500 files shared by a thousand
 * releases without a common history. A single commit is not limited by it. */
export const MAX_REINTRODUCTIONS = 500_000;

/** Entries of stored trees that a push reintroduces, with one more for each tree: they stay in
 * memory until the push is applied, some tens of megabytes. The largest projects have a few
 * hundred thousand in a commit. */
export const MAX_RETURNED_ENTRIES = 4_000_000;

/** Steps from child to parent for finding out whether protected refs are fast-forwarded: a second
 * of the object's one thread. */
export const MAX_ANCESTRY_STEPS = 50_000_000;

/** Bytes at which a chunk is closed: a chunk of small entries fits a SQLite row (2 MB) while it is
 * hot, and one read of it from R2 returns hundreds of objects. */
export const CHUNK_TARGET_BYTES = 2_000_000;

/** Milliseconds for one operation of the bucket, in addition to the time for its bytes. It takes
 * some tens, seconds under overload, and for ever in a local one whose disk is full. */
export const STORE_WAIT_MS = 20_000;

/** Bytes per second that the bucket must accept: a hundredth of what it does. */
export const STORE_BYTES_PER_SECOND = 1_000_000;

/** Bytes of one part of a multipart upload: R2 requires equal parts of at least 5 MiB, and with 8
 * MiB the largest object takes 2,048 of the 10,000 allowed parts. */
export const MULTIPART_PART_BYTES = 8 * MIB;

/** Stored bytes of a push up to which its entries stay in SQLite and cost no R2 operation. */
export const HOT_PUSH_BYTES = 256 * KIB;

/** For commits through the API: how many share a transaction, the bytes of their pack from which no
 * further one joins, and how long drafting them may take (ms). Each waits for all, and the pack
 * stays inline. */
export const MAX_SHARED_COMMITS = 64;
export const MAX_SHARED_BYTES = HOT_PUSH_BYTES / 2;
export const MAX_SHARED_MS = 50;

/** Bytes of packs from which a repository gets a bundle, and from which a push checks whether a new
 * one is due. Below, a clone is a read or two, and asking for the bundle's address costs it more
 * than the bundle saves. */
export const MIN_BUNDLE_BYTES = 4 * MIB;

/** Milliseconds from the push that makes a bundle due until it is built: pushes come in bursts. */
export const BUNDLE_DELAY_MS = 60_000;

/** Bytes of all stored responses of a repository. They serve repeated requests of one day and are
 * no archive. 0: equal fetches share no work, where CPU costs are preferred to those of storage. */
export const MAX_STORED_RESPONSE_BYTES = 512 * MIB;

/** Bytes of a pack's plan, with the chunks that are in SQLite: an object passes it to the Worker in
 * one call, which takes 32 MiB. Enough for some 1,500,000 objects that are sent one by one; chunks
 * that are sent whole are not limited. */
export const MAX_PLAN_BYTES = 30 * MIB;

/** Milliseconds that an object is kept after it became unreachable: after a mistake, the reflog
 * still has the ref's old value. Git's own default (gc.pruneExpire). */
export const PRUNE_GRACE_MS = 14 * 24 * 60 * 60_000;

/** Bytes of the paths in one change of a worktree, and 64 for each: no memory holds those of trees
 * that repeat each other. Enough for some 300,000 files. A branch beyond it is not materialized. */
export const MAX_WORKTREE_PATH_BYTES = 32 * MIB;

/** Bytes of the files of all materialized branches: so many, and so many times what is stored. One
 * blob may be at any number of paths; ordinary files are five times the pack of their history. */
export const FREE_WORKTREE_BYTES = 64 * MIB;
export const WORKTREE_BYTES_PER_STORED = 32;

/** Branches that are materialized: each costs a row at every push, and the space of its files. */
export const MAX_WORKTREES = 100;

/** Milliseconds without a request after which jobs begin: people's actions follow each other
 * closely, and jobs would delay the next. 0: they begin as soon as they are due. */
export const QUIET_MS = 3_000;

/** For what has no limit unless configured. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** Bytes of a JSON body: it contains files as text or base64, and is in memory twice while it is
 * parsed. */
export const MAX_JSON_BYTES = 24 * 1024 * 1024;

/** Operations of one commit through the API, and directories that their paths lead through: a few
 * megabytes of paths can name a million directories, each an object to be made. */
export const MAX_COMMIT_OPERATIONS = 10_000;
export const MAX_COMMIT_DIRECTORIES = 20_000;

/** Bytes of the trees in which one commit through the API changes something: they are in memory
 * until it is made, with what becomes of them. */
export const MAX_COMMIT_TREE_BYTES = MAX_RESIDENT_OBJECT_BYTES;

/** Levels of arrays and objects in a JSON body. */
export const MAX_JSON_DEPTH = 64;

/** Refuses a size or count above its limit.
 * @param what the noun for the message, e.g. "the pack"
 * @param reason what can be done about it
 * @throws GitError "too-large" with what, limit, actual */
export function checkLimit(what: string, limit: number, actual: number, reason?: string): void {
  if (actual > limit) throw new GitError("too-large", { what, limit, actual, reason });
}

/** A file is compared up to this many bytes, old and new together. Both are in memory with their
 * lines. */
export const MAX_COMPARED_BYTES = 8 * 1024 * 1024;
