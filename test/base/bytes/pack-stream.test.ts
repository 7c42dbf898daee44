import { CLONE_REQUEST } from "../../object/clone-request.ts";
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { FetchRequest } from "../../../src/contract/fetch.ts";
import { encodeOfsHead } from "../../../src/base/bytes/entry-head.ts";
import { HeldBytes } from "../../../src/base/bytes/held-bytes.ts";
import type { PackPlan } from "../../../src/base/bytes/pack-plan.ts";
import { PIECE, PIECE_STRIDE } from "../../../src/base/bytes/plan-rows.ts";
import { READS_AHEAD, WINDOW_BYTES } from "../../../src/base/bytes/pack-reads.ts";
import { streamPack } from "../../../src/base/bytes/pack-stream.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { fromHex, nodeCodec, StoredRepository } from "../../object/stored-repository.ts";

/** A store that records its reads. */
class WatchedStore extends MemoryChunkStore {
  readonly reads: { key: string; offset: number; length: number }[] = [];

  override open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    this.reads.push({ key, offset, length });
    return super.open(key, offset, length);
  }
}

/** A store whose transfers break. */
class BreakingStore extends WatchedStore {
  readonly #afterBytes: number;

  constructor(afterBytes: number) {
    super();
    this.#afterBytes = afterBytes;
  }

  override async open(key: string, offset: number, length: number): Promise<ReadableStream<Uint8Array>> {
    const whole = await super.open(key, offset, length);
    if (length <= this.#afterBytes) return whole;
    const first = (await this.read(key, offset, this.#afterBytes)).slice();
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (first.length > 0 && first.buffer.byteLength > 0) controller.enqueue(first);
        else controller.error(new Error("connection lost"));
      },
    });
  }
}

/** A plan of one R2 object, sent in the given pieces: offset and length of each. */
function planOf(sizeBytes: number, pieces: readonly (readonly [number, number])[]): PackPlan {
  return {
    objectCount: pieces.length,
    entriesBytes: pieces.reduce((sum, [, length]) => sum + length, 0),
    extents: [{ key: "chunk", start: 0, length: sizeBytes }],
    pieces: Uint32Array.from(pieces.flatMap(([offset, length]) => [0, 0, offset, length, 0])),
    bases: new Uint8Array(0),
    chains: new Uint32Array(0),
    undeltified: new Uint32Array(0),
  };
}

async function collect(plan: PackPlan, store: MemoryChunkStore): Promise<Buffer> {
  const slices: Uint8Array[] = [];
  for await (const batch of streamPack(plan, store, nodeCodec)) slices.push(...batch.map((slice) => slice.slice()));
  return Buffer.concat(slices);
}

describe("reading", () => {
  const bytes = new Uint8Array(3 * WINDOW_BYTES + 1_000).map((_, i) => i * 7 + (i >> 8));

  async function watched(): Promise<WatchedStore> {
    const store = new WatchedStore();
    await store.put("chunk", bytes);
    return store;
  }

  test("neighbours share a read, and what lies between near ones is dropped", async () => {
    const store = await watched();
    const pack = await collect(
      planOf(bytes.length, [
        [0, 100],
        [100, 50],
        [1_000, 10],
      ]),
      store,
    );
    expect(store.reads).toEqual([{ key: "chunk", offset: 0, length: 1_010 }]);
    const sent = Buffer.concat([bytes.subarray(0, 150), bytes.subarray(1_000, 1_010)]);
    expect(pack.subarray(12, -20)).toEqual(sent);
    expect(pack.subarray(-20)).toEqual(createHash("sha1").update(pack.subarray(0, -20)).digest());
  });

  test("what lies far apart, or backwards, takes reads of its own", async () => {
    const store = await watched();
    const pieces = [
      [0, 10],
      [1_000_000, 10],
      [20, 10],
    ] as const;
    expect((await collect(planOf(bytes.length, pieces), store)).subarray(12, -20)).toEqual(
      Buffer.concat(pieces.map(([offset, length]) => bytes.subarray(offset, offset + length))),
    );
    expect(store.reads.map(({ offset }) => offset)).toEqual([0, 1_000_000, 20]);
  });

  test("a large piece is one read, and only a window of it is held", async () => {
    const store = await watched();
    const held = new HeldBytes();
    const batches: number[] = [];
    const plan = planOf(bytes.length, [[500, bytes.length - 500]]);
    const sent: Uint8Array[] = [];
    for await (const batch of streamPack(plan, store, nodeCodec, held)) {
      batches.push(batch.reduce((sum, { length }) => sum + length, 0));
      sent.push(...batch.map((slice) => slice.slice()));
    }
    expect(Buffer.concat(sent).subarray(12, -20).equals(bytes.subarray(500))).toBe(true);
    expect(batches).toEqual([12, WINDOW_BYTES, WINDOW_BYTES, WINDOW_BYTES, 500, 20]);
    expect(store.reads).toEqual([{ key: "chunk", offset: 500, length: bytes.length - 500 }]);
    expect(held.peakBytes).toBeLessThan(WINDOW_BYTES + 1_000);
  });

  test("a head that straddles two windows is made anew", async () => {
    const store = new WatchedStore();
    const entry = Buffer.concat([
      encodeOfsHead(20, 5_000),
      Buffer.from("deflated, and long enough for a head's reserve, so to speak......."),
    ]);
    // The delta begins at each of the last bytes of a window.
    for (let before = WINDOW_BYTES - 70; before <= WINDOW_BYTES; before++) {
      await store.put("chunk", Buffer.concat([Buffer.alloc(before), entry, Buffer.alloc(10)]));
      const plan = planOf(before + entry.length + 10, [
        [0, before],
        [before, entry.length],
        [before + entry.length, 10],
      ]);
      plan.pieces.set([PIECE.ofsDelta, 0, before, entry.length, 77], PIECE_STRIDE);
      const pack = await collect(plan, store);
      const tail = Buffer.concat([
        encodeOfsHead(20, 77),
        entry.subarray(encodeOfsHead(20, 5_000).length),
        Buffer.alloc(10),
      ]);
      expect(pack.subarray(12 + before, -20).equals(tail)).toBe(true);
    }
  });

  test("a transfer that breaks off goes on where it stopped", async () => {
    const store = new BreakingStore(WINDOW_BYTES + 500);
    await store.put("chunk", bytes);
    const pack = await collect(planOf(bytes.length, [[0, bytes.length]]), store);
    expect(pack.subarray(12, -20).equals(bytes)).toBe(true);
    expect(store.reads.map(({ offset }) => offset)).toEqual([0, WINDOW_BYTES, 2 * WINDOW_BYTES, 3 * WINDOW_BYTES]);
  });

  test("a transfer that breaks off at once fails the pack", async () => {
    const store = new BreakingStore(1_000);
    await store.put("chunk", bytes);
    await expect(collect(planOf(bytes.length, [[0, bytes.length]]), store)).rejects.toMatchObject({
      code: "storage-failed",
      data: { key: "chunk" },
    });
    expect(store.reads.length).toBe(1);
  });

  test("no more is read ahead than allowed, and nothing after the client has gone", async () => {
    const store = await watched();
    const plan = planOf(
      bytes.length,
      Array.from({ length: 40 }, (_, i) => [(i * 997 * 100_003) % 12_000_000, 5]),
    );
    const pack = streamPack(plan, store, nodeCodec);
    await pack.next();
    await pack.next();
    expect(store.reads.length).toBe(1 + READS_AHEAD);
    await pack.return();
    await new Promise((later) => setTimeout(later, 10));
    expect(store.reads.length).toBe(1 + READS_AHEAD);
  });

  test("missing bytes are an error, never a shorter pack", async () => {
    const store = await watched();
    await expect(collect(planOf(bytes.length + 10, [[bytes.length - 10, 20]]), store)).rejects.toMatchObject({
      code: "storage-failed",
    });
    await store.delete(["chunk"]);
    await expect(collect(planOf(bytes.length, [[0, 10]]), store)).rejects.toMatchObject({ code: "storage-failed" });
  });
});

describe("plans", () => {
  let origin: string;
  let oids: Record<string, string>;
  const base = { ...CLONE_REQUEST, thinPack: false };

  beforeAll(async () => {
    origin = await makeHistory({ commits: 150, files: 80, branches: 3, merges: 2, tags: 4 });
    const names = ["main", "side-2", "main~20"];
    oids = Object.fromEntries(
      await Promise.all(names.map(async (name) => [name, await git(origin, "rev-parse", name)])),
    );
  });

  async function stored(chunkBytes: number, packOptions?: readonly string[]): Promise<StoredRepository> {
    const repository = new StoredRepository({ chunkBytes });
    await repository.push(origin, packOptions);
    return repository;
  }

  /** Plans a fetch, makes the pack, and has git check it together with the objects that the client
   * has. */
  async function fetchPack(
    repository: StoredRepository,
    request: FetchRequest,
    had: string | null = null,
  ): Promise<PackPlan> {
    const outcome = await repository.fetch(request);
    if (outcome.kind !== "negotiated" || outcome.pack?.kind !== "plan") throw new Error("no plan");
    const pack = await collect(outcome.pack.plan, repository.chunkStore);
    if (outcome.pack.plan.entriesBytes >= 0) expect(pack.length).toBe(12 + outcome.pack.plan.entriesBytes + 20);
    const clone = await makeRepository("clone.git", "--bare");
    if (had !== null) await git(clone, "fetch", "-q", "--no-tags", origin, `${had}:refs/heads/had`);
    const thin = request.thinPack ? ["--fix-thin"] : [];
    const indexed = await tryGit(clone, ["index-pack", "--strict", "--stdin", ...thin], { stdin: pack });
    expect(indexed.stderr).toBe("");
    return outcome.pack.plan;
  }

  async function request(
    want: string,
    have: string | null,
    options: Partial<FetchRequest> = {},
  ): Promise<FetchRequest> {
    return {
      ...base,
      wants: fromHex(oids[want]!),
      haves: have === null ? new Uint8Array(0) : fromHex(oids[have]!),
      ...options,
    };
  }

  async function cloneRequest(options: Partial<FetchRequest> = {}): Promise<FetchRequest> {
    const tips = (await git(origin, "for-each-ref", "--format=%(objectname)")).split("\n");
    return { ...base, wants: fromHex(tips.join("")), haves: new Uint8Array(0), ...options };
  }

  test("a clone of one push is its chunks, and no row is read", async () => {
    const repository = await stored(20_000);
    const located: NumberSet[] = [];
    const locate = repository.objects.locate.bind(repository.objects);
    repository.objects.locate = (numbers) => {
      located.push(numbers);
      return locate(numbers);
    };
    const plan = await fetchPack(repository, await cloneRequest());
    expect(plan.pieces.length / PIECE_STRIDE).toBe(repository.chunkTable.allInOrder().length);
    // Only the tips are looked up.
    expect(Math.max(...located.map(({ size }) => size))).toBeLessThan(10);
  });

  test("for a client without OFS deltas every one of them is re-headed", async () => {
    const repository = await stored(20_000);
    const plan = await fetchPack(repository, await cloneRequest({ ofsDelta: false }));
    expect(plan.bases.length).toBeGreaterThan(0);
    expect(plan.entriesBytes).toBeGreaterThan(0);
  });

  test("a part of a push keeps its deltas, at new distances", async () => {
    const repository = await stored(20_000);
    const plan = await fetchPack(repository, await request("side-2", null));
    const operations = new Set(
      Array.from({ length: plan.pieces.length / PIECE_STRIDE }, (_, i) => plan.pieces[i * PIECE_STRIDE]),
    );
    expect(operations).toContain(1);
  });

  test("deltas against what the client has go out only when it takes thin packs", async () => {
    const repository = await stored(2_000);
    const thin = await fetchPack(repository, await request("main", "main~20", { thinPack: true }), oids["main~20"]!);
    const whole = await fetchPack(repository, await request("main", "main~20"), oids["main~20"]!);
    expect(thin.undeltified.length).toBe(0);
    expect(whole.undeltified.length).toBeGreaterThan(0);
    expect(whole.entriesBytes).toBe(-1);
    expect(whole.objectCount).toBe(thin.objectCount);
  });

  test("packs of REF deltas only", { tags: "sweep" }, async () => {
    const repository = await stored(5_000, ["--thin"]);
    await fetchPack(repository, await cloneRequest());
    await fetchPack(repository, await request("side-2", null));
    await fetchPack(repository, await request("main", "main~20", { thinPack: true }), oids["main~20"]!);
  });

  test(
    "chunks that several pushes left behind, with objects in between that nothing leads to any more",
    { tags: "sweep" },
    async () => {
      const growing = await makeRepository("growing.git", "--bare");
      const repository = new StoredRepository({ chunkBytes: 3_000 });
      for (const step of ["main~120", "side-0", "main~80", "main~79", "side-1", "main~40", "main"]) {
        const oid = await git(origin, "rev-parse", step);
        await git(growing, "fetch", "-q", "--no-tags", origin, `+${oid}:refs/heads/main`);
        await repository.push(growing);
      }
      await fetchPack(repository, await request("main", null));
      await fetchPack(repository, await request("main", null, { ofsDelta: false }));
      await fetchPack(repository, await request("main", "main~20", { thinPack: true }), oids["main~20"]!);
    },
  );
});
