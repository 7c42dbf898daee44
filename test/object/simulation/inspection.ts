/** Inspects a repository directly, without faults and in no time: what its rows contain, and what a
 * clone would get. */
import wasm from "../../../src/base/codec/holdfast.wasm";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import { AdvertisedRefs } from "../../../src/object/state/advertised-refs.ts";
import { ObjectReader } from "../../../src/object/objects/object-reader.ts";
import type { PackPlan } from "../../../src/base/bytes/pack-plan.ts";
import { streamPack } from "../../../src/base/bytes/pack-stream.ts";
import { UploadPack } from "../../../src/object/fetch/upload-pack.ts";
import type { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { readRepository } from "../../../src/object/store/sql/schema.ts";
import { Tables } from "../../../src/object/store/tables.ts";
import { type MadeType, makeObject } from "../../harness/pack-builder.ts";
import { readPack } from "../../harness/pack-reader.ts";
import { checkRows, namedKeys } from "../faults/invariants.ts";
import { CLONE_REQUEST, plannedPack } from "../clone-request.ts";
import type { NodeSql } from "../sqlite.ts";
import { fromHex } from "../stored-repository.ts";
import type { History } from "./history.ts";
import type { RefState } from "./ref-model.ts";

const codec = instantiateCodec(wasm);

/** What is stored at one moment. */
export class Inspection {
  readonly #sql: NodeSql;
  readonly #objects: MemoryChunkStore;
  readonly #tables: Tables | null;

  constructor(sql: NodeSql, objects: MemoryChunkStore) {
    const record = readRepository(sql);
    this.#sql = sql;
    this.#objects = objects;
    this.#tables = record === null || record.deleted ? null : new Tables(sql);
  }

  /** The refs, null: there is no repository. */
  refs(): RefState | null {
    if (this.#tables === null) return null;
    const { names, oids } = this.#tables.refs.all();
    return { refs: new Map(names.map((name, i) => [name, toHex(oids, i * 20)])), head: this.#tables.refs.head() };
  }

  /** Adds to the history what refs reach and no client has seen: commits that the server made.
   * @returns what was added */
  async adopt(oids: Iterable<string>, history: History): Promise<string[]> {
    const tables = this.#tables!;
    const adopted: string[] = [];
    const unseen = [...oids].filter((oid) => history.get(oid) === undefined);
    const reader = new ObjectReader(tables, this.#objects, codec);
    for (let oid = unseen.pop(); oid !== undefined; oid = unseen.pop()) {
      if (history.get(oid) !== undefined) continue;
      const number = tables.objects.find(fromHex(oid))?.number;
      if (number === undefined) throw new Error(`${oid} is reachable, and not there`);
      const { type, bytes } = await reader.read(number);
      const object = makeObject((["", "commit", "tree", "blob", "tag"] as MadeType[])[type]!, bytes);
      if (object.oid !== oid) throw new Error(`${oid} has the content of ${object.oid}`);
      history.add(object);
      adopted.push(oid);
      unseen.push(...history.links(oid));
    }
    return adopted;
  }

  /** Clones everything, and reports what is wrong with it. @returns the pack, null: there is
   * none */
  async clone(history: History, fail: (reason: string) => void): Promise<Buffer | null> {
    const tips = new Set(this.refs()?.refs.values());
    if (tips.size === 0) return null;
    for (const tip of tips) if (history.get(tip) === undefined) fail(`${tip} was never seen`);
    const { objects, graph, reachability, chunks } = this.#tables!;
    const uploadPack = new UploadPack({
      advertised: new AdvertisedRefs(this.#tables!),
      objects,
      graph,
      reachability,
      chunks,
      reader: new ObjectReader(this.#tables!, this.#objects, codec),
      responses: {
        deliver: async (_: Uint8Array, makePlan: () => Promise<PackPlan>) => ({
          kind: "plan",
          plan: await makePlan(),
          responseKey: null,
        }),
      },
    });
    const answer = await uploadPack.fetch({ ...CLONE_REQUEST, wants: fromHex([...tips].join("")) });
    const plan = plannedPack({ rowsRead: 0, ...answer } as Parameters<typeof plannedPack>[0]);
    const slices: Uint8Array[] = [];
    for await (const batch of streamPack(plan, this.#objects, codec))
      slices.push(...batch.map((slice) => slice.slice()));
    const pack = Buffer.concat(slices);
    const got = new Set(readPack(pack, () => undefined).map(({ oid }) => oid));
    const expected = history.closure(tips);
    const missing = [...expected].filter((oid) => !got.has(oid));
    const extra = [...got].filter((oid) => !expected.has(oid));
    if (missing.length + extra.length > 0) fail(`a clone lacks ${missing.join()} and has ${extra.join()} too much`);
    return pack;
  }

  /** Reports contradictions between rows. */
  check(fail: (reason: string) => void): void {
    if (this.#tables === null) return;
    try {
      checkRows(this.#tables);
    } catch (error) {
      fail(String(error));
    }
  }

  /** Ids of all objects that have rows. */
  storedOids(): Set<string> {
    if (this.#tables === null) return new Set();
    const { oid } = this.#tables.objects.locate(this.#tables.objects.present());
    return new Set(Array.from({ length: oid.length / 20 }, (_, i) => toHex(oid, i * 20)));
  }

  /** Kinds of the jobs that wait. */
  waitingJobs(): string[] {
    return this.#tables === null ? [] : this.#tables.jobs.all().map(({ kind }) => kind);
  }

  /** Compares the bucket's keys with those that rows name. @param repositoryKey begins each key */
  async checkKeys(repositoryKey: string, fail: (reason: string) => void): Promise<void> {
    const stored = new Set(await Array.fromAsync(this.#objects.list("")));
    const named = this.#tables === null ? new Set<string>() : namedKeys(this.#sql, repositoryKey, this.#tables);
    for (const key of stored) if (!named.has(key)) fail(`nothing names ${key}`);
    for (const key of named) if (!stored.has(key)) fail(`${key} is named, and not there`);
  }
}
