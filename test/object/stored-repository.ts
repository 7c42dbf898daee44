import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { instantiateCodec } from "../../src/base/codec/codec.ts";
import wasm from "../../src/base/codec/holdfast.wasm";
import { decodeEntryHead } from "../../src/base/bytes/entry-head.ts";
import { decodeEntryHeader, decodeOfsDistance, OFS_DELTA, REF_DELTA } from "../../src/base/format/pack.ts";
import type { FetchRequest, FetchSource } from "../../src/contract/fetch.ts";
import type { DeltaCodec } from "../../src/base/bytes/delta-chains.ts";
import { AdvertisedRefs } from "../../src/object/state/advertised-refs.ts";
import type { PackPlan } from "../../src/base/bytes/pack-plan.ts";
import { ObjectReader } from "../../src/object/objects/object-reader.ts";
import { TreeTable } from "../../src/object/store/index/tree-table.ts";
import { UploadPack } from "../../src/object/fetch/upload-pack.ts";
import type { NewChunk } from "../../src/object/store/index/chunk-row.ts";
import { ChunkTable } from "../../src/object/store/index/chunk-table.ts";
import { CommitGraph } from "../../src/object/store/graph/commit-graph.ts";
import type { NewNode } from "../../src/object/store/graph/parents-first.ts";
import { MemoryChunkStore } from "../harness/memory-chunk-store.ts";
import { NumberSet } from "../../src/base/numbers/number-set.ts";
import { newObjectColumns } from "../../src/object/store/index/object-columns.ts";
import { ObjectIndex } from "../../src/object/store/index/object-index.ts";
import { Reachability } from "../../src/object/store/graph/reachability.ts";
import { RefStore } from "../../src/object/store/refs/refs.ts";
import { createRepository } from "../../src/object/store/sql/schema.ts";
import { git, tryGit } from "../harness/git.ts";
import { NodeSql } from "./sqlite.ts";

/** An object as the fixture knows it. */
interface Known {
  readonly number: number;
  readonly type: 1 | 2 | 3 | 4;
  readonly content: Uint8Array;
}

/** An entry of a pack being stored. */
interface Entry {
  readonly oid: string;
  readonly offset: number;
  readonly length: number;
  readonly type: 1 | 2 | 3 | 4;
  readonly content: Uint8Array;
  /** Hex; null: no delta. */
  readonly base: string | null;
  readonly distance: number;
}

const TYPES = ["", "commit", "tree", "blob", "tag"];

const streams = instantiateCodec(wasm);

/** Zlib and deltas by Node, straight from the specification: also an oracle for the codec. */
export const nodeCodec: DeltaCodec = {
  inflate: (zlib, sizeBytes) => {
    const bytes = inflateSync(zlib);
    if (bytes.length !== sizeBytes) throw new Error(`inflated ${bytes.length} bytes instead of ${sizeBytes}`);
    return { content: bytes, consumed: zlib.length };
  },
  inflateStream: (sizeBytes) => streams.inflateStream(sizeBytes),
  applyDelta,
  deflate: (bytes) => deflateSync(bytes),
  memoryBytes: 0,
};

/** The stores of one repository, filled from real git's packs without the project's code for
 * pushing. What each node introduces is found by comparing whole closures. */
export class StoredRepository implements FetchSource {
  readonly chunkStore = new MemoryChunkStore();
  readonly chunkBytes: number;
  readonly sql = new NodeSql();
  readonly objects = new ObjectIndex(this.sql);
  readonly graph: CommitGraph;
  readonly refStore = new RefStore(this.sql);
  readonly chunkTable = new ChunkTable(this.sql, this.objects);
  readonly reachability: Reachability;
  readonly known = new Map<string, Known>();
  readonly #closures = new Map<number, Set<number>>();
  readonly #introducers = new Map<number, number>();
  readonly #hot: boolean;
  readonly #key = crypto.randomUUID();
  #tips: string[] = [];
  #pushes = 0;

  /** @param options.chunkBytes size at which a chunk is closed @param options.hot keeps chunks in
   * SQLite */
  constructor(options: { chunkBytes?: number; hot?: boolean } = {}) {
    this.chunkBytes = options.chunkBytes ?? 2_000;
    this.#hot = options.hot ?? false;
    createRepository(this.sql, { key: this.#key, createdMs: 0, fsck: "default" });
    this.graph = CommitGraph.load(this.sql);
    this.reachability = new Reachability(this.sql, this.objects, this.graph);
  }

  /** Brings the repository's refs to those of a git repository, as one push of a thin pack
   * would. */
  async push(dir: string, packOptions: readonly string[] = ["--thin", "--delta-base-offset"]): Promise<void> {
    const refs = (await git(dir, "for-each-ref", "--format=%(objectname) %(refname) %(*objectname)")).split("\n");
    const tips = refs.filter((line) => line !== "").map((line) => line.slice(0, 40));
    const revs = [...tips, ...this.#tips.map((tip) => `^${tip}`)].join("\n");
    const packed = await tryGit(dir, ["pack-objects", "-q", "--revs", "--stdout", ...packOptions], {
      stdin: `${revs}\n`,
    });
    if (packed.code !== 0) throw new Error(packed.stderr);
    await this.#store(new Uint8Array(packed.stdoutBytes), tips);
    const names = new Set(this.refStore.all().names);
    for (const line of refs) {
      const [oid, name, peeled] = line.split(" ") as [string, string, string];
      if (oid === "") continue;
      names.delete(name);
      const old = this.refStore.get(name)?.oid ?? null;
      // `*objectname` peels once only.
      const target = peeled === "" ? null : fromHex(await git(dir, "rev-parse", `${name}^{}`));
      this.#swap(name, old, fromHex(oid), target);
    }
    for (const name of names) this.#swap(name, this.refStore.get(name)!.oid, null, null);
    this.refStore.setHead(await git(dir, "symbolic-ref", "HEAD"));
    this.#tips = [...new Set([...this.#tips, ...tips])];
  }

  #swap(name: string, old: Uint8Array | null, next: Uint8Array | null, peeled: Uint8Array | null): void {
    const changes = this.refStore.change([name]);
    changes.compareAndSwap(name, old, next, peeled);
    changes.write();
  }

  async refs(prefixes: string[]): ReturnType<FetchSource["refs"]> {
    return structuredClone(this.#uploadPack().refs(structuredClone(prefixes)));
  }

  async fetch(request: FetchRequest): ReturnType<FetchSource["fetch"]> {
    return structuredClone({ rowsRead: 0, ...(await this.#uploadPack().fetch(structuredClone(request))) });
  }

  finishResponse(): Promise<void> {
    return Promise.resolve();
  }

  awaitResponse(): Promise<null> {
    return Promise.resolve(null);
  }

  async sizes(oids: Uint8Array): Promise<Float64Array> {
    return this.#uploadPack().sizes(oids);
  }

  #uploadPack(): UploadPack {
    const { objects, graph, reachability, chunkTable: chunks } = this;
    const reader = new ObjectReader({ objects, chunks, trees: new TreeTable(this.sql) }, this.chunkStore, nodeCodec);
    const advertised = new AdvertisedRefs({ refs: this.refStore, objects, graph });
    const responses = {
      deliver: async (_: Uint8Array, makePlan: () => Promise<PackPlan>) =>
        ({ kind: "plan", plan: await makePlan(), responseKey: null }) as const,
    };
    return new UploadPack({ advertised, objects, graph, reachability, chunks, reader, responses });
  }

  async bundles(): ReturnType<FetchSource["bundles"]> {
    return [];
  }

  async #store(pack: Uint8Array, tips: readonly string[]): Promise<void> {
    const push = ++this.#pushes;
    const fresh: Entry[] = [];
    const entries = this.#parse(pack);
    for (const entry of entries) {
      if (this.known.has(entry.oid)) continue;
      this.known.set(entry.oid, { number: this.known.size + 1, type: entry.type, content: entry.content });
      fresh.push(entry);
    }
    this.#grow(fresh, tips);
    const chunkOf = await this.#cut(pack, entries, fresh, push);
    const rows = newObjectColumns(fresh.length);
    fresh.forEach((entry, i) => {
      const number = this.#number(entry.oid);
      const { id, start } = chunkOf(entry);
      rows.oid.set(fromHex(entry.oid), i * 20);
      const values = {
        number,
        chunk: id,
        offset: entry.offset - start,
        length: entry.length,
        type: entry.type,
        size: entry.content.length,
        base: entry.base === null ? 0 : this.#number(entry.base),
        distance: entry.distance,
        introducer: this.#introducers.get(number) ?? 0,
      };
      for (const [name, value] of Object.entries(values)) rows[name as keyof typeof values][i] = value;
    });
    this.objects.insertMany(rows);
  }

  /** Divides the pack into chunks and stores them. */
  async #cut(
    pack: Uint8Array,
    entries: readonly Entry[],
    fresh: readonly Entry[],
    push: number,
  ): Promise<(entry: Entry) => { id: number; start: number }> {
    const isFresh = new Set(fresh);
    const starts: { id: number; start: number; end: number }[] = [];
    const chunks: NewChunk[] = [];
    let id = this.chunkTable.nextId();
    for (let from = 0; from < entries.length;) {
      let to = from;
      let size = 0;
      while (to < entries.length && size < this.chunkBytes) size += entries[to++]!.length;
      const start = entries[from]!.offset;
      const bytes = pack.slice(start, start + size);
      const held = entries.slice(from, to);
      const numbers = held.filter((entry) => isFresh.has(entry)).map((entry) => this.#number(entry.oid));
      const bases = held.filter((entry) => isFresh.has(entry) && entry.base !== null);
      const floor = (deltas: Entry[]): number =>
        deltas.length === 0 ? 0 : Math.min(...deltas.map((entry) => this.#number(entry.base!)));
      const key = this.#hot ? null : `${this.#key}/chunks/${push}`;
      if (numbers.length > 0) {
        chunks.push({
          key: key === null ? null : `${key}-${id}`,
          bytes: key === null ? bytes : null,
          size,
          checksum: createHash("sha1").update(bytes).digest(),
          push,
          packOffset: start,
          firstNumber: numbers[0]!,
          lastNumber: numbers.at(-1)!,
          whole: numbers.length === held.length,
          ofsFloor: floor(bases.filter((entry) => entry.distance > 0)),
          baseFloor: floor(bases),
          objects: null,
        });
        if (key !== null) await this.chunkStore.put(`${key}-${id}`, bytes);
        starts.push({ id: id++, start, end: start + size });
      }
      from = to;
    }
    this.chunkTable.insert(chunks);
    return (entry) => starts.find(({ start, end }) => entry.offset >= start && entry.offset < end)!;
  }

  /** Adds the new commit-graph nodes, and finds what each introduces. */
  #grow(fresh: readonly Entry[], tips: readonly string[]): void {
    const tipSet = new Set(tips);
    const nodes: NewNode[] = [];
    const added = new Set(tips.filter((tip) => this.known.has(tip) && this.graph.position(this.#number(tip)) < 0));
    for (const { oid, type } of fresh) if (type === 1 || type === 4 || tipSet.has(oid)) added.add(oid);
    for (const oid of added) nodes.push(this.#nodeOf(oid));
    const before = this.graph.length;
    this.graph.append(nodes);
    const introduced: NumberSet[] = [];
    for (let position = before; position < this.graph.length; position++) {
      const number = this.graph.number(position);
      const inherited = new Set<number>();
      for (const parent of this.graph.parents(position))
        for (const object of this.#closures.get(this.graph.number(parent))!) inherited.add(object);
      const closure = new Set(inherited);
      this.#collect(this.#oid(number), closure);
      this.#closures.set(number, closure);
      const own = [...closure].filter((object) => !inherited.has(object)).sort((a, b) => a - b);
      introduced.push(NumberSet.fromSorted(own));
      const again = own.filter((object) => this.#introducers.has(object));
      this.reachability.reintroduce(again.map((object) => ({ object, introducer: number })));
      for (const object of own) if (!this.#introducers.has(object)) this.#introducers.set(object, number);
    }
    this.graph.write(this.sql, before, introduced);
  }

  #nodeOf(oid: string): NewNode {
    const { number, type, content } = this.known.get(oid)!;
    const references = this.#references(oid);
    const isNode = (reference: string): boolean => [1, 4].includes(this.known.get(reference)!.type);
    // For a tag, its target; a tree or blob that a ref names is its own node.
    const tree =
      type === 1 || type === 4 ? references.find((target) => [2, 3].includes(this.known.get(target)!.type)) : oid;
    const time = Number(
      /^(?:committer|tagger) .* (\d+) [+-]\d+$/m.exec(Buffer.from(content).toString("latin1"))?.[1] ?? 0,
    );
    return {
      number,
      tree: tree === undefined ? 0 : this.#number(tree),
      time,
      parents: type === 1 || type === 4 ? references.filter(isNode).map((reference) => this.#number(reference)) : [],
    };
  }

  #collect(oid: string, closure: Set<number>): void {
    const number = this.#number(oid);
    if (closure.has(number)) return;
    closure.add(number);
    for (const reference of this.#references(oid)) this.#collect(reference, closure);
  }

  /** Ids that an object refers to, submodules left out. */
  #references(oid: string): string[] {
    const { type, content } = this.known.get(oid)!;
    const text = Buffer.from(content).toString("latin1");
    if (type === 1)
      return [...text.split("\n\n", 1)[0]!.matchAll(/^(?:tree|parent) ([0-9a-f]{40})$/gm)].map((match) => match[1]!);
    if (type === 4) return [text.slice(7, 47)];
    const references: string[] = [];
    for (let at = 0; type === 2 && at < content.length;) {
      const end = content.indexOf(0, at);
      if (!text.startsWith("160000", at))
        references.push(Buffer.from(content.subarray(end + 1, end + 21)).toString("hex"));
      at = end + 21;
    }
    return references;
  }

  #oids: string[] = [];

  #oid(number: number): string {
    if (this.#oids.length !== this.known.size) this.#oids = [...this.known.keys()];
    return this.#oids[number - 1]!;
  }

  #number(oid: string): number {
    return this.known.get(oid)!.number;
  }

  #parse(pack: Uint8Array): Entry[] {
    const count = new DataView(pack.buffer, pack.byteOffset).getUint32(8);
    const entries: Entry[] = [];
    const byOffset = new Map<number, Entry>();
    const byOid = new Map<string, Entry>();
    for (let offset = 12; entries.length < count;) {
      const { type, headerBytes } = decodeEntryHeader(pack, offset);
      const { dataOffset } = decodeEntryHead(pack.subarray(offset));
      const { buffer, engine } = inflateSync(pack.subarray(offset + dataOffset), { info: true }) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      const distance = type === OFS_DELTA ? decodeOfsDistance(pack, offset + headerBytes).distance : 0;
      let base: string | null = null;
      if (type === OFS_DELTA) base = byOffset.get(offset - distance)!.oid;
      else if (type === REF_DELTA)
        base = Buffer.from(pack.subarray(offset + headerBytes, offset + headerBytes + 20)).toString("hex");
      const baseObject = base === null ? undefined : (byOid.get(base) ?? this.known.get(base))!;
      const content = baseObject === undefined ? buffer : applyDelta(baseObject.content, buffer);
      const objectType = (baseObject?.type ?? type) as Entry["type"];
      const oid = createHash("sha1").update(`${TYPES[objectType]} ${content.length}\0`).update(content).digest("hex");
      const entry = {
        oid,
        offset,
        length: dataOffset + engine.bytesWritten,
        type: objectType,
        content,
        base,
        distance,
      };
      entries.push(entry);
      byOffset.set(offset, entry);
      byOid.set(oid, entry);
      offset += entry.length;
    }
    return entries;
  }
}

/** Hex → oid. */
export function fromHex(hex: string): Uint8Array {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

/** @see gitformat-pack(5) "Deltified representation" */
function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = delta[at++]!;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
  };
  if (varint() !== base.length) throw new Error("the base has another size");
  const result = new Uint8Array(varint());
  let end = 0;
  while (at < delta.length) {
    const opcode = delta[at++]!;
    if (opcode < 0x80) {
      result.set(delta.subarray(at, at + opcode), end);
      at += opcode;
      end += opcode;
      continue;
    }
    const read = (bits: number[]): number =>
      bits.reduce((value, bit, i) => (opcode & bit ? value + delta[at++]! * 256 ** i : value), 0);
    const offset = read([1, 2, 4, 8]);
    const size = read([16, 32, 64]) || 0x10000;
    result.set(base.subarray(offset, offset + size), end);
    end += size;
  }
  if (end !== result.length) throw new Error("the result has another size");
  return result;
}
