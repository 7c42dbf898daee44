import { afterEach, expect, test } from "vitest";
import wasm from "../../../src/base/codec/holdfast.wasm";
import {
  IDLE_INDEXER,
  returnInstance,
  SMALL_INSTANCE_BYTES,
  takeInstance,
} from "../../../src/base/codec/indexer-instance.ts";
import { MAX_INDEX_BYTES } from "../../../src/base/format/limits.ts";
import { PushMemory } from "../../../src/object/push/push-memory.ts";
import { ISOLATE_MEMORY } from "../../../src/base/pacing/memory-budget.ts";

const MIB = 1024 * 1024;

afterEach(() => IDLE_INDEXER.shrink(0));

/** An instance as a large pack leaves it. */
function makeLarge(sizeBytes: number) {
  const instance = takeInstance(wasm, false);
  instance.exports.memory.grow(sizeBytes / 65_536);
  return instance;
}

test("the instance of a large pack is kept for the next large one, and for no small one", () => {
  const instance = makeLarge(MAX_INDEX_BYTES);
  returnInstance(wasm, instance);
  expect(IDLE_INDEXER.sizeBytes).toBe(instance.exports.memory.buffer.byteLength);
  const small = takeInstance(wasm, false);
  expect(small).not.toBe(instance);
  expect(takeInstance(wasm, true)).toBe(instance);
  expect(IDLE_INDEXER.sizeBytes).toBe(0);
  const other = makeLarge(16 * MIB);
  returnInstance(wasm, instance);
  returnInstance(wasm, other);
  expect(takeInstance(wasm, true)).toBe(instance);
});

test("an instance that waits counts as taken, and makes way for what needs its memory", async () => {
  const freeBytes = ISOLATE_MEMORY.freeBytes;
  const instance = makeLarge(MAX_INDEX_BYTES);
  returnInstance(wasm, instance);
  expect(ISOLATE_MEMORY.freeBytes).toBe(freeBytes - instance.exports.memory.buffer.byteLength);
  const leases = [await ISOLATE_MEMORY.takeLarge(), await ISOLATE_MEMORY.take(40 * MIB)];
  expect(IDLE_INDEXER.sizeBytes).toBe(0);
  for (const lease of leases) lease.free();
});

test("no small pack gets an instance for which it would have to take the large part of memory", async () => {
  const memory = await PushMemory.take(true);
  for (const more of [0, 65_536]) {
    const instance = takeInstance(wasm, false);
    const { buffer } = instance.exports.memory;
    instance.exports.memory.grow((SMALL_INSTANCE_BYTES + more - buffer.byteLength) / 65_536);
    returnInstance(wasm, instance);
    const next = takeInstance(wasm, false);
    expect(next === instance).toBe(more === 0);
    expect(memory.outgrows(next.exports.memory.buffer.byteLength, 0)).toBe(false);
  }
  memory.free();
});
