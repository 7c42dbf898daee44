/** What must hold of a repository whatever has failed, as in bad-inputs: (I1) every acknowledged
 * ref exists; (I2) every object it reaches exists, with bytes that match its id; (I3) a push is
 * applied completely or not at all; (I5) nothing else stays for good. Whether a retry succeeds (I4)
 * shows when it is made. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { toHex } from "../../../src/base/format/oid.ts";
import { parseTree, typeOfMode } from "../../../src/base/format/tree.ts";
import { ObjectReader } from "../../../src/object/objects/object-reader.ts";
import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";
import { worktreeFileKey } from "../../../src/object/worktree/file-key.ts";
import type { Sql } from "../../../src/object/store/sql/sql.ts";
import type { Tables } from "../../../src/object/store/tables.ts";
import type { PushedRepository } from "../pushing.ts";
import { nodeCodec } from "../stored-repository.ts";

const TYPES = ["", "commit", "tree", "blob", "tag"];

/** The refs: id in hex by name. */
export type RefStates = ReadonlyMap<string, string>;

/** The refs of a repository, as in its tables; none when it does not exist. */
export function readRefs({ repository }: PushedRepository): RefStates {
  const all = repository.state.tables?.refs.all();
  return new Map(all?.names.map((name, i) => [name, toHex(all.oids, i * 20)]));
}

/** Checks a repository: its refs, every object, and that its memory equals what is stored (I1 to
 * I3).
 * @param store where its R2 objects are, without faults
 * @throws AssertionError */
export async function checkRepository(repository: PushedRepository, store: ChunkStore, refs: RefStates): Promise<void> {
  assert.deepEqual(readRefs(repository), refs, "refs");
  const inMemory = repository.repository.state.tables;
  if (inMemory === null) return assert.equal(refs.size, 0);
  const tables = repository.reopen();
  checkMemory(inMemory, tables);
  checkRows(tables);
  await checkChunks(tables, store);
  const references = await readObjects(tables, store);
  const reachable = closure(references, refs.values());
  assert.deepEqual(reachable, introduced(tables), "what refs lead to is what their nodes introduced");
}

/** Checks that nothing superfluous is kept (I5). To be called when all jobs have run and every
 * grace period is over.
 * @throws AssertionError */
export async function checkNothingLeft(repository: PushedRepository, store: ChunkStore): Promise<void> {
  const keys = await Array.fromAsync(store.list(""));
  const { tables } = repository.repository.state;
  if (tables === null) return assert.deepEqual(keys, [], "R2 keys of no repository");
  const { key } = repository.repository.state;
  assert.deepEqual(new Set(keys), namedKeys(repository.sql, key, tables), "R2 keys and those that rows name");
  checkNothingUnreachable(tables);
}

/** Checks that there is no object that no ref needs.
 * @throws AssertionError */
export function checkNothingUnreachable(tables: Tables): void {
  const { objects } = tables;
  const present = objects.present();
  const { oid } = objects.locate(present);
  const stored = Array.from({ length: oid.length / 20 }, (_, i) => toHex(oid, i * 20));
  assert.deepEqual(new Set(stored), introduced(tables), "objects and what refs lead to");
  const useless = objects.hidden().difference(objects.withBases(present));
  assert.deepEqual(useless.toArray(), new Uint32Array(0), "hidden objects that nothing is a delta on");
}

/** Every R2 key that some row names.
 * @param repositoryKey begins each */
export function namedKeys(sql: Sql, repositoryKey: string, { chunks, lfs, bundles, worktrees }: Tables): Set<string> {
  const named = new Set([...chunks.keys(), ...lfs.keys()]);
  const bundle = bundles.current();
  if (bundle !== null) named.add(bundle.key);
  for (const { name } of sql.exec<{ name: string }>("SELECT object_key AS name FROM responses")) named.add(name);
  for (const { branch, id } of worktrees.all()) {
    for (const { path } of worktrees.files(id, "", "", 1_000_000))
      named.add(worktreeFileKey(repositoryKey, branch, path));
  }
  return named;
}

/** What a process has in memory must equal what the next one would read. */
function checkMemory(inMemory: Tables, stored: Tables): void {
  // The order differs where nodes were added since, though parents precede children in both.
  const nodes = ({ graph }: Tables) =>
    Array.from({ length: graph.length }, (_, position) => [
      graph.number(position),
      ...Array.from(graph.parents(position), (parent) => graph.number(parent)),
    ]).toSorted(([a], [b]) => a! - b!);
  assert.deepEqual(nodes(inMemory), nodes(stored), "the graph in memory");
  assert.deepEqual(inMemory.objects.pruned().encode(), stored.objects.pruned().encode(), "pruned numbers in memory");
  assert.deepEqual(inMemory.objects.hidden().encode(), stored.objects.hidden().encode(), "hidden numbers in memory");
}

/** Checks that there is no delta without its base, which may be hidden, no chunk without objects,
 * and no introducer that is not a commit-graph node.
 * @throws AssertionError */
export function checkRows({ objects, chunks, graph, reachability }: Tables): void {
  const present = objects.present();
  const all = present.union(objects.hidden());
  const rows = objects.locate(all);
  for (const base of rows.base) assert.ok(base === 0 || all.has(base), "a delta's base");
  for (const node of objects.locate(present).introducer)
    assert.ok(node === 0 || graph.position(node) >= 0, "an introducer");
  assert.deepEqual(new Set(rows.chunk), new Set(chunks.allInOrder().map(({ id }) => id)), "chunks");
  for (const [, nodes] of reachability.severalIntroducers(present)) {
    for (const node of nodes) assert.ok(graph.position(node) >= 0, "a further introducer");
  }
}

/** Checks that every chunk's bytes are where its row says, and unchanged. */
async function checkChunks({ chunks }: Tables, store: ChunkStore): Promise<void> {
  for (const { id, key, start, size, checksum } of chunks.allInOrder()) {
    const bytes = key === null ? chunks.hotBytesOf(id)! : await store.read(key, start, size);
    assert.equal(hash("sha1", bytes), toHex(checksum), `chunk ${id}`);
  }
}

/** Reads all objects, and compares each with its id.
 * @returns what each refers to, by id */
async function readObjects(tables: Tables, store: ChunkStore): Promise<Map<string, string[]>> {
  const present = tables.objects.present();
  const { oid, type, size } = tables.objects.locate(present);
  const references = new Map<string, string[]>();
  let i = 0;
  for await (const [, object] of new ObjectReader(tables, store, nodeCodec).readEach(present)) {
    const name = toHex(oid, i * 20);
    const head = Buffer.from(`${TYPES[object.type]} ${object.bytes.length}\0`);
    assert.equal(hash("sha1", head, object.bytes), name, "an object's bytes");
    assert.deepEqual([type[i], size[i]], [object.type, object.bytes.length], "an object's type and size");
    references.set(name, referencesOf(object.type, object.bytes));
    i += 1;
  }
  return references;
}

function referencesOf(type: number, bytes: Uint8Array): string[] {
  if (type === 3) return [];
  if (type === 2) {
    const entries = parseTree(bytes).filter(({ mode }) => typeOfMode(mode) !== "commit");
    return entries.map(({ oid }) => toHex(oid));
  }
  const head = Buffer.from(bytes).toString("latin1").split("\n\n", 1)[0]!;
  return [...head.matchAll(/^(?:tree|parent|object) ([0-9a-f]{40})$/gm)].map(([, oid]) => oid!);
}

function closure(references: ReadonlyMap<string, readonly string[]>, tips: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const pending = [...tips];
  for (let oid = pending.pop(); oid !== undefined; oid = pending.pop()) {
    if (found.has(oid)) continue;
    const targets = references.get(oid);
    assert.ok(targets !== undefined, `${oid} is missing`);
    found.add(oid);
    pending.push(...targets);
  }
  return found;
}

/** Ids of everything that refs reach, as a clone would get it. */
function introduced({ refs, objects, graph, reachability }: Tables): Set<string> {
  const positions = Array.from(objects.lookupMany(refs.all().oids).number, (number) => graph.position(number));
  const numbers = reachability.between(graph.ancestors(positions), graph.ancestors([]));
  const { oid } = objects.locate(numbers);
  return new Set(Array.from({ length: oid.length / 20 }, (_, i) => toHex(oid, i * 20)));
}

function hash(algorithm: string, ...pieces: readonly Uint8Array[]): string {
  const digest = createHash(algorithm);
  for (const piece of pieces) digest.update(piece);
  return digest.digest("hex");
}
