import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import type { FetchContext } from "../../../src/worker/git/fetch-context.ts";
import type { NewPlace } from "../../../src/contract/push.ts";
import { deliverPack } from "../../../src/worker/git/pack-delivery.ts";
import { packBody } from "../../../src/worker/git/pack-response.ts";
import type { FetchSource, PackDelivery } from "../../../src/contract/fetch.ts";
import type { PackPlan } from "../../../src/base/bytes/pack-plan.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { decodePkts, demux } from "../../harness/raw.ts";
import { nodeCodec } from "../../object/stored-repository.ts";

const OBJECT_KEY = "packs/response";
const SIZE_BYTES = 2_000_000;
const PREAMBLE = new TextEncoder().encode("000dpackfile\n");
const FRAMING = { bandDataBytes: 65_515, progress: true };

/** A pack of one stored chunk. */
const PLAN: PackPlan = {
  objectCount: 1,
  entriesBytes: SIZE_BYTES,
  extents: [{ key: "chunk", start: 0, length: SIZE_BYTES }],
  pieces: Uint32Array.of(0, 0, 0, SIZE_BYTES, 0),
  bases: new Uint8Array(0),
  chains: new Uint32Array(0),
  undeltified: new Uint32Array(0),
};

const STORE: PackDelivery = { kind: "store", plan: PLAN, objectKey: OBJECT_KEY, responseKey: "key" };
const AWAITED: PackDelivery = { kind: "awaited", objectKey: OBJECT_KEY };

/** A store whose writes wait for `go`. */
class SlowStore extends MemoryChunkStore {
  readonly go = Promise.withResolvers<void>();

  override async putStream(key: string, bytes: ReadableStream<Uint8Array>, length: number): Promise<void> {
    await this.go.promise;
    return super.putStream(key, bytes, length);
  }
}

let chunks: SlowStore;
/** The repository's answer to a waiting Worker. */
let awaited: PromiseWithResolvers<Awaited<ReturnType<FetchSource["awaitResponse"]>>>;
let settled: [objectKey: string, sizeBytes: number | null][];
let background: Promise<unknown>[];
let whole: Buffer;
/** The repository's present name, for a client that used a former one. */
let place: NewPlace | null;

beforeAll(() => {
  // The runtime has this class; it passes data on unchanged, as the standard one does.
  vi.stubGlobal("IdentityTransformStream", TransformStream);
});
afterAll(() => vi.unstubAllGlobals());

beforeEach(async () => {
  chunks = new SlowStore();
  place = null;
  awaited = Promise.withResolvers();
  settled = [];
  background = [];
  await chunks.put("chunk", new Uint8Array(SIZE_BYTES).fill(7));
  whole = Buffer.from(await new Response(packBody(PREAMBLE, PLAN, context(), FRAMING)).arrayBuffer());
});

function context(): FetchContext {
  const source: Partial<FetchSource> = {
    awaitResponse: () => awaited.promise,
    finishResponse: async (objectKey, sizeBytes) => void settled.push([objectKey, sizeBytes]),
  };
  return {
    source: source as FetchSource,
    chunks,
    codec: nodeCodec,
    limits: DEFAULT_LIMITS,
    movedTo: () => place,
    waitUntil: (promise) => void background.push(promise),
    observe: () => undefined,
  };
}

function deliver(pack: PackDelivery): Promise<Response> {
  return deliverPack(pack, PREAMBLE, context(), FRAMING);
}

async function store(): Promise<void> {
  await chunks.put(OBJECT_KEY, Uint8Array.from(whole));
  awaited.resolve({ kind: "stored", cache: "shared", objectKey: OBJECT_KEY, sizeBytes: whole.length, objectCount: 1 });
}

async function readAll(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

test("whose response is stored is served meanwhile", async () => {
  const response = await deliver(STORE);
  expect(response.headers.get("Holdfast-Cache")).toBe("miss");
  expect((await readAll(response)).equals(whole)).toBe(true);
  expect(settled).toEqual([]);
  chunks.go.resolve();
  await Promise.all(background);
  expect(settled).toEqual([[OBJECT_KEY, whole.length]]);
  expect(Buffer.from(await chunks.read(OBJECT_KEY, 0, whole.length)).equals(whole)).toBe(true);
});

test("a client that takes nothing, or leaves, does not hold up the storing", async () => {
  for (const leaves of [false, true]) {
    settled = [];
    const response = await deliver(STORE);
    if (leaves) await response.body!.cancel();
    chunks.go.resolve();
    await Promise.all(background);
    expect(settled).toEqual([[OBJECT_KEY, whole.length]]);
  }
});

test("who comes meanwhile has the beginning at once, and the rest when it is stored", async () => {
  const response = await deliver(AWAITED);
  expect(response.headers.get("Holdfast-Cache")).toBe("shared");
  const [first, rest] = response.body!.tee();
  const reader = first.getReader();
  expect((await reader.read()).value).toEqual(PREAMBLE);
  await store();
  expect((await readAll(new Response(rest))).equals(whole)).toBe(true);
});

/** Packets of band 2, as git's own server would send one. */
const NOTICE = "This repository is now me/diary: git remote set-url origin http://host/me/diary.git\n";

test.each<[string, () => Promise<PackDelivery>]>([
  ["made", async () => ({ kind: "plan", plan: PLAN, responseKey: null })],
  ["made and stored", async () => STORE],
  [
    "being stored",
    async () => {
      await store();
      return AWAITED;
    },
  ],
  [
    "stored",
    async () => {
      await store();
      return (await awaited.promise) as PackDelivery;
    },
  ],
])("who comes by a former name is told so, in a response that is %s; nobody else is", async (_, prepare) => {
  const pack = await prepare();
  place = { name: "me/diary", url: "http://host/me/diary.git" };
  const told = await readAll(await deliver(pack));
  const packet = Buffer.concat([
    Buffer.from((NOTICE.length + 5).toString(16).padStart(4, "0")),
    Buffer.from(`\x02${NOTICE}`),
  ]);
  expect(told.equals(Buffer.concat([PREAMBLE, packet, whole.subarray(PREAMBLE.length)]))).toBe(true);
  chunks.go.resolve();
  await Promise.all(background);
  if (pack.kind !== "plan")
    expect(Buffer.from(await chunks.read(OBJECT_KEY, 0, whole.length)).equals(whole)).toBe(true);
  for (const [_, bytes] of settled) expect(bytes).toBe(whole.length);
  const quiet = await readAll(await deliverPack(pack, PREAMBLE, context(), { ...FRAMING, progress: false }));
  expect(quiet.includes(NOTICE)).toBe(false);
  const bare = await readAll(await deliverPack(pack, PREAMBLE, context(), { bandDataBytes: null, progress: true }));
  expect(bare.includes(NOTICE)).toBe(false);
  place = null;
  expect((await readAll(await deliver(pack))).equals(whole)).toBe(true);
});

test("when storing fails, who waits is served by himself, with the same bytes", async () => {
  const response = await deliver(AWAITED);
  awaited.resolve({ kind: "plan", plan: PLAN, responseKey: null });
  expect((await readAll(response)).equals(whole)).toBe(true);
});

test.each<[string, () => void, string]>([
  [
    "nothing is known any more of what was stored",
    () => awaited.resolve(null),
    "the request that was making it has ended",
  ],
  [
    "what was stored is lost",
    () => awaited.resolve({ kind: "stored", cache: "shared", objectKey: OBJECT_KEY, sizeBytes: 500, objectCount: 1 }),
    "storage failed",
  ],
  ["the repository does not answer", () => awaited.reject(new Error("gone")), "internal error"],
])("%s: who waits is told, and gets no shorter answer", async (_, come, message) => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const response = await deliver(AWAITED);
  come();
  const received: Uint8Array[] = [];
  await expect(
    (async () => {
      for await (const piece of response.body!) received.push(piece);
    })(),
  ).rejects.toThrow();
  const [, ...bands] = decodePkts(Buffer.concat(received));
  expect(demux(bands).error).toContain(message);
  await Promise.all(background);
  expect(logged).toHaveBeenCalledOnce();
  logged.mockRestore();
});

test("who waits and leaves is forgotten without a word", async () => {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  for (const reads of [0, 1]) {
    background = [];
    const reader = (await deliver(AWAITED)).body!.getReader();
    for (let i = 0; i < reads; i++) await reader.read();
    await reader.cancel();
    await store();
    await Promise.all(background);
  }
  expect(logged).not.toHaveBeenCalled();
  logged.mockRestore();
});

test("a pack of unknown length is stored by one write when it was made whole before, else by an unsized one", async () => {
  const puts = vi.spyOn(chunks, "putStream");
  chunks.go.resolve();
  const unsized = { ...PLAN, entriesBytes: -1 };
  const makings: [taken: "whole" | "in part" | "not at all", sizes: number[]][] = [
    ["not at all", []],
    ["in part", []],
    ["whole", [whole.length]],
    // The cached name is dropped: if it had been wrong, each storing would fail.
    ["not at all", []],
  ];
  for (const [taken, sizes] of makings) {
    puts.mockClear();
    background = [];
    if (taken !== "not at all") {
      const made = await deliver({ kind: "plan", plan: unsized, responseKey: "unsized" });
      if (taken === "whole") expect((await readAll(made)).equals(whole)).toBe(true);
      else await made.body!.cancel();
    }
    await readAll(await deliver({ kind: "store", plan: unsized, objectKey: OBJECT_KEY, responseKey: "unsized" }));
    await Promise.all(background);
    expect(puts.mock.calls.map(([, , sizeBytes]) => sizeBytes)).toEqual(sizes);
    expect(Buffer.from(await chunks.read(OBJECT_KEY, 0, whole.length)).equals(whole)).toBe(true);
  }
});
