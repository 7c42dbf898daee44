import { expect } from "vitest";
import { toHex } from "../../../src/base/format/oid.ts";
import type { ChunkStore } from "../../../src/base/chunks/chunk-store.ts";
import { git } from "../../harness/git.ts";
import type { PushedRepository } from "../pushing.ts";

/** Runs jobs as their alarms would, until none is due before a time. */
export async function housekeep(repository: PushedRepository, untilMs: number): Promise<void> {
  for (let runs = 0; runs < 100; runs++) {
    const dueMs = repository.repository.state.jobs.nextDueMs();
    if (dueMs === null || dueMs > untilMs) return;
    await repository.repository.runJobs(dueMs);
  }
  throw new Error("there is always another job");
}

/** Every id that the repository stores. */
export function storedOids({ tables }: PushedRepository): string[] {
  const { oid } = tables.objects.locate(tables.objects.present());
  return Array.from({ length: oid.length / 20 }, (_, i) => toHex(oid, i * 20)).toSorted();
}

/** Every id that refs of a git repository reach. */
export async function reachableOids(dir: string, ...revisions: readonly string[]): Promise<string[]> {
  const list = await git(dir, "rev-list", "--objects", "--no-object-names", ...revisions);
  return list.split("\n").toSorted();
}

/** Looks for what maintenance must never leave: deltas without a base, chunks without objects,
 * numbers without an object. */
export function expectConsistent(repository: PushedRepository): void {
  const tables = repository.reopen();
  const present = tables.objects.present();
  const rows = tables.objects.locate(present);
  expect(rows.base.filter((base) => base !== 0 && !present.has(base))).toEqual(new Uint32Array());
  expect(rows.introducer.filter((node) => node !== 0 && tables.graph.position(node) < 0)).toEqual(new Uint32Array());
  expect(new Set(rows.chunk)).toEqual(new Set(tables.chunks.allInOrder().map(({ id }) => id)));
  for (const [object, nodes] of tables.reachability.severalIntroducers(present)) {
    expect([object, nodes.filter((node) => tables.graph.position(node) < 0)]).toEqual([object, []]);
    expect(new Set(nodes).size).toBe(nodes.length);
  }
}

/** A store that can wait before it writes. */
export class GatedStore implements ChunkStore {
  readonly #inner: ChunkStore;
  /** Called before each write; null: writes do not wait. */
  onPut: (() => Promise<void>) | null = null;

  constructor(inner: ChunkStore) {
    this.#inner = inner;
  }

  /** Runs an action once, while the next write waits. */
  duringPut(run: () => Promise<void>): void {
    this.onPut = () => {
      this.onPut = null;
      return run();
    };
  }

  put: ChunkStore["put"] = async (...object) => {
    await this.onPut?.();
    await this.#inner.put(...object);
  };

  read: ChunkStore["read"] = (...range) => this.#inner.read(...range);
  putStream: ChunkStore["putStream"] = (...object) => this.#inner.putStream(...object);
  createMultipart: ChunkStore["createMultipart"] = (key) => this.#inner.createMultipart(key);
  resumeMultipart: ChunkStore["resumeMultipart"] = (key, id) => this.#inner.resumeMultipart(key, id);
  stream: ChunkStore["stream"] = (...range) => this.#inner.stream(...range);
  open: ChunkStore["open"] = (...range) => this.#inner.open(...range);
  putFile: ChunkStore["putFile"] = async (...file) => {
    await this.onPut?.();
    return this.#inner.putFile(...file);
  };
  openFile: ChunkStore["openFile"] = (...range) => this.#inner.openFile(...range);
  delete: ChunkStore["delete"] = (keys) => this.#inner.delete(keys);
  stat: ChunkStore["stat"] = (key) => this.#inner.stat(key);
  list: ChunkStore["list"] = (...range) => this.#inner.list(...range);
}
