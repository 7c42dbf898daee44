import { type Oid, toHex } from "../../base/format/oid.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import { ISOLATE_MEMORY } from "../../base/pacing/memory-budget.ts";
import type { OpenRepository } from "./open-repository.ts";

/** Cache of trees' contents, by id, for all repositories. The trees of an active branch are read
 * again for every commit, and each is a delta of the one before: reading them from the store would
 * get slower with every commit since the last maintenance. */
const TREES = new ByteCache<Uint8Array>(8 * 1024 * 1024, ISOLATE_MEMORY);

/** Minimum size of a cached tree: its id, and the overhead of its entry. Hostile trees have few
 * bytes. */
const BYTES_PER_TREE = 256;

/** Cache of root trees by the ids of commits made here: the next commit of a client is made on top
 * of one, and names another as its base. */
const ROOTS = new ByteCache<Oid>(1024 * 1024);

/** Size of one entry: both ids, and its overhead. */
const ROOT_BYTES = 200;

/** Reads a tree that is referenced in the repository.
 * @returns its content, which must not be changed
 * @throws GitError "storage-failed" */
export async function readTree(repository: OpenRepository, oid: Oid): Promise<Uint8Array> {
  const kept = keptTree(oid);
  if (kept !== undefined) return kept;
  const { bytes } = await repository.reader.read(repository.numberOf(oid));
  keepTree(oid, bytes);
  return bytes;
}

/** Finds the cached content of a tree. The tree need not be in the current repository. */
export function keptTree(oid: Oid): Uint8Array | undefined {
  return TREES.get(toHex(oid));
}

/** Caches the content of a tree, which must not be changed any more. */
export function keepTree(oid: Oid, content: Uint8Array): void {
  TREES.set(toHex(oid), content, Math.max(content.length, BYTES_PER_TREE));
}

/** Finds the cached root tree of a commit that must be in the repository. */
export function keptRoot(commit: Oid): Oid | undefined {
  return ROOTS.get(toHex(commit));
}

/** Caches the root tree of a commit. */
export function keepRoot(commit: Oid, tree: Oid): void {
  ROOTS.set(toHex(commit), tree, ROOT_BYTES);
}
