import { type Oid, toHex } from "../../format/oid.ts";
import { ByteCache } from "../pack-bytes/byte-cache.ts";
import { ISOLATE_MEMORY } from "../pacing/memory-budget.ts";
import type { OpenRepository } from "./open-repository.ts";

/** Contents of trees, by id, whatever repository they are of: those of a branch that is written to are read again for every commit,
 * and each is a delta of the one before, so that reading it from what is stored would cost the more, the longer ago the last
 * housekeeping was. */
const TREES = new ByteCache<Uint8Array>(8 * 1024 * 1024, ISOLATE_MEMORY);

/** What a tree counts for at the least: its id, and its place in the cache. Hostile trees have few bytes. */
const BYTES_PER_TREE = 256;

/** Root trees of commits that were made here, by the commits' ids: the next save is made on top of one, and names another as its base. */
const ROOTS = new ByteCache<Oid>(1024 * 1024);

/** Bytes of one of these: both ids, and what holds them. */
const ROOT_BYTES = 200;

/** Reads a tree that something in the repository refers to.
 * @returns its content, not to be changed
 * @throws GitError "storage-failed" */
export async function readTree(repository: OpenRepository, oid: Oid): Promise<Uint8Array> {
  const kept = keptTree(oid);
  if (kept !== undefined) return kept;
  const { bytes } = await repository.reader.read(repository.numberOf(oid));
  keepTree(oid, bytes);
  return bytes;
}

/** The content of a tree, if it is at hand. It need not be in the repository that asks. */
export function keptTree(oid: Oid): Uint8Array | undefined {
  return TREES.get(toHex(oid));
}

/** Keeps the content of a tree, which is not changed any more. */
export function keepTree(oid: Oid, content: Uint8Array): void {
  TREES.set(toHex(oid), content, Math.max(content.length, BYTES_PER_TREE));
}

/** The root tree of a commit that is known to be in the repository, if it is at hand. */
export function keptRoot(commit: Oid): Oid | undefined {
  return ROOTS.get(toHex(commit));
}

/** Keeps which root tree a commit has. */
export function keepRoot(commit: Oid, tree: Oid): void {
  ROOTS.set(toHex(commit), tree, ROOT_BYTES);
}
