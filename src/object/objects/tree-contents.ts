import { type Oid, toHex } from "../../base/format/oid.ts";
import { ByteCache } from "../../base/bytes/byte-cache.ts";
import { ISOLATE_MEMORY } from "../../base/pacing/memory-budget.ts";
import type { OpenRepository } from "./open-repository.ts";

/** Contents of trees, by id, for all repositories. The trees of an active branch are read again for
 * every commit, and each is a delta of the one before: reading them from the store would get slower
 * with every commit since the last maintenance. */
const TREES = new ByteCache<Uint8Array>(8 * 1024 * 1024, ISOLATE_MEMORY);

/** What a tree counts for at least: its id, and its entry in the cache. Hostile trees have few
 * bytes. */
const BYTES_PER_TREE = 256;

/** Root trees of commits made here, by the commits' ids: the next save is made on top of one, and
 * names another as its base. */
const ROOTS = new ByteCache<Oid>(1024 * 1024);

/** The bytes of one entry: both ids, and its overhead. */
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

/** The cached content of a tree. The tree need not be in the current repository. */
export function keptTree(oid: Oid): Uint8Array | undefined {
  return TREES.get(toHex(oid));
}

/** Caches the content of a tree, which must not be changed any more. */
export function keepTree(oid: Oid, content: Uint8Array): void {
  TREES.set(toHex(oid), content, Math.max(content.length, BYTES_PER_TREE));
}

/** The cached root tree of a commit that must be in the repository. */
export function keptRoot(commit: Oid): Oid | undefined {
  return ROOTS.get(toHex(commit));
}

/** Caches the root tree of a commit. */
export function keepRoot(commit: Oid, tree: Oid): void {
  ROOTS.set(toHex(commit), tree, ROOT_BYTES);
}
