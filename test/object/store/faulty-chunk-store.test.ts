import { expect, test } from "vitest";
import { FaultyChunkStore, faultAt, NO_FAULTS, seededFaults } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { collect, describeChunkStore, readAll } from "./chunk-store-contract.ts";

describeChunkStore("faulty, without faults,", () => ({
  store: new FaultyChunkStore(new MemoryChunkStore(), NO_FAULTS),
  prefix: "r/",
}));

test("a write that fails before its effect leaves nothing, after it everything", async () => {
  const inner = new MemoryChunkStore();
  await expect(new FaultyChunkStore(inner, faultAt(1, "before")).put("a", new Uint8Array(1))).rejects.toThrow("before");
  expect(await collect(inner.list(""))).toEqual([]);
  await expect(new FaultyChunkStore(inner, faultAt(1, "after")).put("a", new Uint8Array(1))).rejects.toThrow("after");
  expect(await collect(inner.list(""))).toEqual(["a"]);
});

test("every call of a multipart write can fail", async () => {
  for (const number of [1, 2, 3]) {
    const inner = new MemoryChunkStore();
    const store = new FaultyChunkStore(inner, faultAt(number, "before"));
    const writing = store.createMultipart("a").then(async (write) => {
      await write.putPart(1, new Uint8Array(1));
      await write.complete();
    });
    await expect(writing).rejects.toThrow("before");
    expect(store.calls.map(({ operation }) => operation)).toEqual(
      ["createMultipart", "putPart", "complete"].slice(0, number),
    );
    expect(await collect(inner.list(""))).toEqual([]);
  }
});

test("reads are cut loudly and flipped silently, whole or streamed", async () => {
  const inner = new MemoryChunkStore();
  await inner.put("a", new Uint8Array(100));
  const store = (fault: "truncate" | "flip" | "before" | "after") => new FaultyChunkStore(inner, faultAt(1, fault));
  const damaged = new Uint8Array(100);
  damaged[50] = 0x10;
  expect(await store("flip").read("a", 0, 100)).toEqual(damaged);
  expect(await readAll(await store("flip").stream("a", 0, 100))).toEqual(damaged);
  expect(await readAll(await store("flip").open("a", 0, 100))).toEqual(damaged);
  for (const fault of ["truncate", "before", "after"] as const) {
    await expect(store(fault).read("a", 0, 100)).rejects.toMatchObject({ code: "storage-failed" });
    await expect(store(fault).stream("a", 0, 100).then(readAll)).rejects.toMatchObject({ code: "storage-failed" });
    await expect(store(fault).open("a", 0, 100).then(readAll)).rejects.toMatchObject({ code: "storage-failed" });
  }
  expect(await inner.read("a", 0, 100)).toEqual(new Uint8Array(100));
});

test("a listing fails rather than ends early", async () => {
  const inner = new MemoryChunkStore();
  await inner.put("a", new Uint8Array(1));
  for (const fault of ["before", "after", "truncate"] as const) {
    await expect(collect(new FaultyChunkStore(inner, faultAt(1, fault)).list(""))).rejects.toThrow("planned fault");
  }
});

test("after a crash nothing works, and nothing has an effect", async () => {
  const inner = new MemoryChunkStore();
  const store = new FaultyChunkStore(inner, faultAt(2, "crash"));
  await store.put("a", new Uint8Array(1));
  await expect(store.put("b", new Uint8Array(1))).rejects.toThrow("crash");
  await expect(store.delete(["a"])).rejects.toThrow("crash");
  await expect(store.read("a", 0, 1)).rejects.toThrow("crash");
  await expect(collect(store.list(""))).rejects.toThrow("crash");
  expect(await collect(inner.list(""))).toEqual(["a"]);
  expect(store.calls.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
});

test("seeded faults are the same every time", () => {
  const run = (seed: number) => {
    const plan = seededFaults(seed, 0.3, ["before", "after"]);
    return Array.from({ length: 200 }, (_, i) => plan({ number: i + 1, operation: "put", key: "a" }));
  };
  expect(run(1)).toEqual(run(1));
  expect(run(1)).not.toEqual(run(2));
  const faults = run(1).filter((fault) => fault !== null);
  expect(faults.length).toBeGreaterThan(30);
  expect(faults.length).toBeLessThan(90);
  expect(new Set(faults)).toEqual(new Set(["before", "after"]));
});
