import { expect, test } from "vitest";
import { NO_INDEX } from "../../../src/base/codec/pack-index.ts";
import { NeededEntries } from "../../../src/object/push/needed-entries.ts";
import { arrayIndex } from "./array-index.ts";
import { Random } from "../../harness/random.ts";

const MIB = 1024 * 1024;

/** A pack of random entries, of which some deltas are left to resolve. */
function makePack(random: Random, count: number, mostBytes: number) {
  // Behind them are external entries, which have no offset.
  const offsets = new Float64Array(count + 2);
  let end = 12;
  for (let entry = 0; entry < count; entry++) {
    offsets[entry] = end;
    end += 1 + random.below(mostBytes);
  }
  const bases = new Uint32Array(count).fill(NO_INDEX);
  const entryNodes = new Uint32Array(count).fill(7);
  for (let entry = 1; entry < count; entry++) {
    // An external base is behind the pack's entries.
    if (random.below(2) === 0) bases[entry] = random.below(20) === 0 ? count + 3 : random.below(entry);
    if (random.below(10) === 0) entryNodes[entry] = NO_INDEX;
  }
  const needed = new Set<number>();
  for (let entry = 0; entry < count; entry++) {
    if (entryNodes[entry] === NO_INDEX) for (let at = entry; at < count; at = bases[at]!) needed.add(at);
  }
  const columns = { count, offsets, end, bases, entryNodes };
  return { index: { ...arrayIndex({ ...columns, nodeCount: 0 }), offsets }, columns, needed, bytes: random.bytes(end) };
}

test("entries that deltas need are read in few pieces, and each is what the pack has there", async () => {
  const random = new Random(7);
  const { index, needed, bytes } = makePack(random, 3_000, 2_000);
  const entries = new NeededEntries(index);
  const read: number[] = [];
  const pieces: Uint8Array[] = [];
  await entries.load(index.offsets[0]!, async (offset, length) => {
    read.push(length);
    pieces.push(bytes.slice(offset, offset + length));
    return pieces.at(-1)!;
  });
  expect(pieces.filter(({ buffer }) => buffer.byteLength > 0)).toEqual([]);
  for (let entry = 0; entry < index.count; entry++) {
    const offset = index.offsets[entry]!;
    const length = (entry + 1 < index.count ? index.offsets[entry + 1]! : index.end) - offset;
    const out = new Uint8Array(length);
    expect([entry, entries.read(offset, out)]).toEqual([entry, needed.has(entry) ? length : 0]);
    if (needed.has(entry)) expect(Buffer.compare(out, bytes.subarray(offset, offset + length))).toBe(0);
  }
  expect(read.length).toBeLessThanOrEqual(Math.ceil(index.end / MIB) + 1);
});

test("what does not fit is left out, unless more memory is lent", { tags: "sweep" }, async () => {
  const random = new Random(8);
  const { index, needed, bytes } = makePack(random, 8_000, 8_000);
  const load = async (entries: NeededEntries, entry: number): Promise<number> => {
    const read = async (offset: number, length: number) => bytes.slice(offset, offset + length);
    await entries.load(index.offsets[entry]!, read);
    return [...needed].filter((one) => entries.holds(index.offsets[one]!)).length;
  };
  const entries = new NeededEntries(index);
  const last = Math.max(...needed);
  expect(entries.isWorthReading(index.offsets[last]!)).toBe(true);
  const held = await load(entries, last);
  expect(held).toBeLessThan(needed.size);
  expect(entries.holds(index.offsets[last]!)).toBe(true);
  expect(entries.sizeBytes).toBeLessThanOrEqual(3.5 * MIB);
  // Until many of them were of use, nothing is read in their place.
  expect(entries.isWorthReading(index.offsets[Math.min(...needed)]!)).toBe(false);
  entries.allow(entries.wantedBytes);
  expect(await load(entries, last)).toBe(needed.size);
  expect(entries.wantedBytes).toBe(0);
  expect(entries.sizeBytes).toBeLessThanOrEqual(3.5 * MIB);
});

test("entries beyond 4 GiB are found and read", async () => {
  const { index, columns, needed, bytes } = makePack(new Random(9), 500, 2_000);
  const beforeBytes = 5 * 2 ** 32;
  const offsets = index.offsets.map((offset) => offset + beforeBytes);
  const moved = { offsets, end: index.end + beforeBytes };
  const entries = new NeededEntries(arrayIndex({ ...columns, ...moved, nodeCount: 0 }));
  await entries.load(moved.offsets[0]!, async (offset, length) =>
    bytes.slice(offset - beforeBytes, offset - beforeBytes + length),
  );
  for (const entry of needed) {
    const offset = index.offsets[entry]!;
    const length = (entry + 1 < index.count ? index.offsets[entry + 1]! : index.end) - offset;
    const out = new Uint8Array(length);
    expect(entries.read(offset + beforeBytes, out)).toBe(length);
    expect(Buffer.compare(out, bytes.subarray(offset, offset + length))).toBe(0);
  }
});
