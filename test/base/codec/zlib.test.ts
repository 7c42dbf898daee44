import { constants, deflateSync, inflateSync } from "node:zlib";
import * as pako from "pako";
import { describe, expect, test } from "vitest";
import { type DeflateLevel, instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { MAX_RESIDENT_OBJECT_BYTES } from "../../../src/base/format/limits.ts";
import { testSome } from "../../harness/sweep.ts";
import { cut, LARGE_SIZES, noise, repetitive, SMALL_SIZES, text } from "./sample.ts";

const codec = instantiateCodec(wasm);
const LEVELS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const satisfies DeflateLevel[];
const KINDS = { repetitive, noise, text };
const CORRUPT = expect.objectContaining({ code: "corrupt-pack" });

/** Inflates through the stream, with input in pieces of these sizes. */
function stream(
  bytes: Uint8Array,
  sizeBytes: number,
  ...sizes: readonly number[]
): { content: Uint8Array; consumed: number } {
  const inflater = codec.inflateStream(sizeBytes);
  const pieces: Uint8Array[] = [];
  let consumed = 0;
  for (const piece of cut(bytes, ...sizes)) {
    const output = inflater.push(piece);
    let step = output.next();
    for (; step.done !== true; step = output.next()) pieces.push(step.value);
    consumed += step.value;
    if (inflater.done) break;
  }
  inflater.end();
  return { content: new Uint8Array(Buffer.concat(pieces)), consumed };
}

testSome(1, Object.entries(KINDS), "inflate takes what zlib and pako make of %s", ([, make]) => {
  for (const size of [...SMALL_SIZES, ...LARGE_SIZES]) {
    const content = make(size);
    const streams = [
      deflateSync(content, { level: size % 10 }),
      pako.deflate(content, { level: ((size + 3) % 9) + 1 }),
    ];
    for (const zlib of streams) {
      const { content: inflated, consumed } = codec.inflate(zlib, size);
      expect(Buffer.compare(inflated, content), `${size} bytes`).toBe(0);
      expect(consumed).toBe(zlib.length);
    }
  }
});

describe.each(Object.entries(KINDS))("zlib and pako take what deflate makes of %s", (_, make) => {
  function expectTaken(sizes: readonly number[], levelsOf: (size: number) => readonly DeflateLevel[]): void {
    for (const size of sizes) {
      const content = make(size);
      for (const level of levelsOf(size)) {
        const zlib = codec.deflate(content, level);
        expect(Buffer.compare(inflateSync(zlib), content), `${size} bytes, level ${level}`).toBe(0);
        expect(Buffer.compare(pako.inflate(zlib), content)).toBe(0);
      }
    }
  }

  test("at one level or another", { tags: "sweep" }, () =>
    expectTaken([...SMALL_SIZES, ...LARGE_SIZES], (size) => [LEVELS[size % LEVELS.length]!]),
  );

  test("at every level", { tags: "sweep" }, () =>
    expectTaken([...SMALL_SIZES, ...LARGE_SIZES], (size) =>
      size <= 200 || size === 100_000 ? LEVELS : [LEVELS[1 + (size % 9)]!],
    ),
  );
});

test("deflate compresses about as well as zlib, and level 0 stores", () => {
  const content = text(200_000);
  for (const level of LEVELS.slice(1)) {
    expect(codec.deflate(content, level).length).toBeLessThan(deflateSync(content, { level }).length * 1.1);
  }
  expect(codec.deflate(content, 0).length).toBeGreaterThan(content.length);
});

test("inflate finds the end of the stream among what follows", () => {
  for (const size of [0, 1, 100, 70_000]) {
    const content = repetitive(size);
    const zlib = deflateSync(content);
    const followed = new Uint8Array([...zlib, ...noise(500)]);
    expect(codec.inflate(followed, size)).toEqual({ content, consumed: zlib.length });
    expect(stream(followed, size, 33)).toEqual({ content, consumed: zlib.length });
    expect(stream(followed, size, followed.length)).toEqual({ content, consumed: zlib.length });
  }
});

test("withInflated lends the content, and keeps the codec to itself meanwhile", () => {
  const content = text(5_000);
  codec.withInflated(deflateSync(content), content.length, (view, consumed) => {
    expect(Buffer.compare(view, content)).toBe(0);
    expect(consumed).toBe(deflateSync(content).length);
    expect(() => codec.hash(content)).toThrow(/in use/);
  });
  expect(codec.deflate(content).length).toBeGreaterThan(0);
});

test("a stream gives the same in any pieces, and beyond 1 MiB", () => {
  for (const make of Object.values(KINDS)) {
    const content = make(1_500_000);
    const zlib = deflateSync(content);
    for (const sizes of [[zlib.length], [65_536], [4_096, 1, 13]]) {
      const { content: inflated, consumed } = stream(zlib, content.length, ...sizes);
      expect(Buffer.compare(inflated, content)).toBe(0);
      expect(consumed).toBe(zlib.length);
    }
  }
});

/** Input that must be refused both whole and as a stream: ways to change the stream of 1,000
 * bytes. */
const MALFORMED: Record<string, (zlib: Uint8Array) => { bytes: Uint8Array; sizeBytes?: number }> = {
  "nothing at all": () => ({ bytes: new Uint8Array() }),
  "a size one too small": (bytes) => ({ bytes, sizeBytes: 999 }),
  "a size one too large": (bytes) => ({ bytes, sizeBytes: 1_001 }),
  "a size of nothing": (bytes) => ({ bytes, sizeBytes: 0 }),
  "a wrong checksum": (zlib) => ({ bytes: zlib.with(-1, zlib.at(-1)! ^ 1) }),
  "no checksum": (zlib) => ({ bytes: zlib.subarray(0, -4) }),
  "half a checksum": (zlib) => ({ bytes: zlib.subarray(0, -2) }),
  "half a stream": (zlib) => ({ bytes: zlib.subarray(0, zlib.length / 2) }),
  "raw deflate": (zlib) => ({ bytes: zlib.subarray(2) }),
  "a wrong header check": (zlib) => ({ bytes: zlib.with(1, zlib[1]! ^ 1) }),
  "another method": () => ({ bytes: Uint8Array.of(0x79, 0x9c - 0x0f, 3, 0, 0, 0, 0, 1) }),
  "block type 3": () => ({ bytes: Uint8Array.of(0x78, 0x9c, 7, 0, 0, 0, 0, 1) }),
  "a stored block whose length contradicts itself": () => ({
    bytes: Uint8Array.of(0x78, 0x9c, 1, 1, 0, 0, 0, 65, 0, 66, 0, 66),
    sizeBytes: 1,
  }),
  "a match before the beginning": () => ({
    bytes: Uint8Array.of(0x78, 0x9c, 0x63, 0x00, 0x42, 0, 0, 0, 0, 1),
    sizeBytes: 4,
  }),
  "a dictionary": () => ({ bytes: deflateSync(text(1_000), { dictionary: Buffer.from(text(100)) }) }),
  gzip: (zlib) => ({ bytes: new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, ...zlib]) }),
};

test.each(Object.entries(MALFORMED))("inflate refuses %s", (_, spoil) => {
  const { bytes, sizeBytes = 1_000 } = spoil(new Uint8Array(deflateSync(noise(1_000))));
  expect(() => codec.inflate(bytes, sizeBytes)).toThrow(CORRUPT);
  expect(() => stream(bytes, sizeBytes, 100)).toThrow(CORRUPT);
});

test("every flipped bit of a stream is found, or changes nothing", { tags: "sweep" }, () => {
  const content = text(300);
  const zlib = deflateSync(content, { strategy: constants.Z_DEFAULT_STRATEGY });
  for (let bit = 16; bit < zlib.length * 8; bit++) {
    const flipped = Uint8Array.from(zlib);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    for (const inflate of [() => codec.inflate(flipped, 300), () => stream(flipped, 300, 50)]) {
      try {
        expect(Buffer.compare(inflate().content, content)).toBe(0);
      } catch (error) {
        expect(error).toEqual(CORRUPT);
      }
    }
  }
});

test("a claimed size beyond the cap is refused before anything is reserved", () => {
  const before = codec.memoryBytes;
  expect(() => codec.inflate(deflateSync(noise(10)), MAX_RESIDENT_OBJECT_BYTES + 1)).toThrow(
    expect.objectContaining({ code: "too-large" }),
  );
  expect(codec.memoryBytes).toBe(before);
});

test(
  "a large object takes no more of the module's memory than a small one, whole or as a stream",
  { tags: "sweep" },
  () => {
    const small = instantiateCodec(wasm);
    const zlib = deflateSync(new Uint8Array(20_000_000), { level: 1 });
    expect(small.inflate(zlib, 20_000_000).content.length).toBe(20_000_000);
    expect(inflateSync(small.deflate(new Uint8Array(20_000_000)))).toHaveLength(20_000_000);
    expect(small.memoryBytes).toBeLessThan(3_000_000);
    let largest = 0;
    const inflater = codec.inflateStream(20_000_000);
    for (const piece of inflater.push(zlib)) largest = Math.max(largest, piece.length);
    inflater.end();
    expect(largest).toBe(65_536);
  },
);
