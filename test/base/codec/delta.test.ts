import { expect, test } from "vitest";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { MAX_RESIDENT_OBJECT_BYTES } from "../../../src/base/format/limits.ts";
import { decodeEntryHeader, decodePackHeader, PACK_HEADER_BYTES, REF_DELTA } from "../../../src/base/format/pack.ts";
import { OID_BYTES, toHex } from "../../../src/base/format/oid.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { noise, text } from "./sample.ts";

const codec = instantiateCodec(wasm);

test("deltas that git makes give the objects that git made them from", { tags: "sweep" }, async () => {
  const repository = await makeRepository("deltas");
  const contents = new Map<string, Uint8Array>();
  for (let version = 0; version < 40; version++) {
    // Large enough for copies of 64 KiB and more, and offsets of three bytes.
    const content = Buffer.concat([text(3_000 * version), noise(200_000), text(40, version + 1)]);
    const { stdout } = await tryGit(repository, ["hash-object", "-w", "--stdin"], { stdin: content });
    contents.set(stdout.trim(), content);
  }
  const names = [...contents.keys()].map((oid) => `${oid} file\n`).join("");
  const { stdoutBytes } = await tryGit(repository, ["pack-objects", "--stdout", "-q"], { stdin: names });

  const pack = new Uint8Array(stdoutBytes);
  const count = decodePackHeader(pack);
  let deltas = 0;
  let at = PACK_HEADER_BYTES;
  for (let entry = 0; entry < count; entry++) {
    const { type, sizeBytes, headerBytes } = decodeEntryHeader(pack, at);
    at += headerBytes;
    const base = type === REF_DELTA ? contents.get(toHex(pack.subarray(at, (at += OID_BYTES))))! : undefined;
    const { content, consumed } = codec.inflate(pack.subarray(at), sizeBytes);
    at += consumed;
    const whole = base === undefined ? content : codec.applyDelta(base, content);
    deltas += base === undefined ? 0 : 1;
    const [oid] = codec.hashObjects([{ type: "blob", content: whole }]);
    expect(Buffer.compare(whole, contents.get(toHex(oid!))!)).toBe(0);
  }
  expect(at).toBe(pack.length - OID_BYTES);
  expect(count).toBe(40);
  expect(deltas).toBeGreaterThan(30);
});

const BASE = noise(70_000);
const BASE_SIZE = encodeSize(70_000);

test("each instruction does what gitformat-pack says", () => {
  const apply = (resultSize: readonly number[], ...instructions: readonly number[]) =>
    codec.applyDelta(BASE, Uint8Array.of(...BASE_SIZE, ...resultSize, ...instructions));
  expect(apply([0])).toEqual(new Uint8Array());
  expect(apply([3], 3, 7, 8, 9)).toEqual(Uint8Array.of(7, 8, 9));
  expect(apply([127], 127, ...noise(127))).toEqual(noise(127));
  expect(apply([5], 0x90, 5)).toEqual(BASE.slice(0, 5));
  expect(apply([5], 0x91, 9, 5)).toEqual(BASE.slice(9, 14));
  expect(apply([5], 0x92, 1, 5)).toEqual(BASE.slice(256, 261));
  expect(apply([5], 0x94, 1, 5)).toEqual(BASE.slice(65_536, 65_541));
  expect(apply([0x80, 2], 0xa0, 1)).toEqual(BASE.slice(0, 256));
  expect(apply([0x80, 0x80, 4], 0xc0, 1)).toEqual(BASE.slice(0, 65_536));
  // A size of 0 means 64 KiB.
  expect(apply([0x80, 0x80, 4], 0x80)).toEqual(BASE.slice(0, 65_536));
  expect(apply([0x80, 0x80, 4], 0x81, 44)).toEqual(BASE.slice(44, 65_580));
  expect(apply([...BASE_SIZE], 0xf0, 0x70, 0x11, 0x01)).toEqual(BASE);
});

const CLAIMS_65536 = [...BASE_SIZE, 0x80, 0x80, 4];
const MALFORMED: Record<string, readonly number[]> = {
  "an empty delta": [],
  "a delta that ends in the base's size": [0xf0],
  "a delta that ends before the result's size": BASE_SIZE,
  "a base size that overflows": [...Array.from({ length: 9 }, () => 0xff), 1, 0],
  "a result size that overflows": [...BASE_SIZE, ...Array.from({ length: 9 }, () => 0xff), 1],
  "a base size one too small": [0xef, 0xa2, 0x04, 1, 1, 65],
  "a base size one too large": [0xf1, 0xa2, 0x04, 1, 1, 65],
  "opcode 0": [...BASE_SIZE, 1, 0, 65],
  "an insert past the delta's end": [...BASE_SIZE, 3, 3, 65, 66],
  "a copy whose offset is cut off": [...BASE_SIZE, 5, 0x91, 9],
  "a copy cut off behind its opcode": [...BASE_SIZE, 5, 0xff],
  "a copy from behind the base": [...BASE_SIZE, 1, 0x97, 0x71, 0x11, 0x01, 1],
  "a copy past the base's end": [...BASE_SIZE, 2, 0x97, 0x6f, 0x11, 0x01, 2],
  "a copy at an offset of 4 GiB": [...BASE_SIZE, 1, 0x9f, 0xff, 0xff, 0xff, 0xff, 1],
  "a copy of 64 KiB by size 0 that the base is too short for": [...CLAIMS_65536, 0x83, 0x71, 0x11],
  "a result too large by a copy": [...BASE_SIZE, 4, 0x90, 5],
  "a result too large by an insert": [...BASE_SIZE, 1, 2, 65, 66],
  "a result too small": [...BASE_SIZE, 4, 0x90, 3],
  "a result of nothing where something was claimed": [...BASE_SIZE, 4],
  "an instruction behind the complete result": [...BASE_SIZE, 1, 1, 65, 1, 66],
};

test.each(Object.entries(MALFORMED))("%s is refused", (_, bytes) => {
  expect(() => codec.applyDelta(BASE, Uint8Array.from(bytes))).toThrow(
    expect.objectContaining({ code: "corrupt-delta" }),
  );
});

test("a copy of 64 KiB by size 0 needs such a base", () => {
  const delta = Uint8Array.of(10, 0x80, 0x80, 4, 0x80);
  expect(() => codec.applyDelta(noise(10), delta)).toThrow(expect.objectContaining({ code: "corrupt-delta" }));
});

test("a claimed result of 1 TiB, or just over the cap, is refused before anything is reserved", () => {
  const before = codec.memoryBytes;
  for (const sizeBytes of [2 ** 40, MAX_RESIDENT_OBJECT_BYTES + 1]) {
    expect(() => codec.applyDelta(BASE, Uint8Array.of(...BASE_SIZE, ...encodeSize(sizeBytes), 1, 65))).toThrow(
      expect.objectContaining({ code: "too-large" }),
    );
  }
  expect(codec.memoryBytes).toBe(before);
});

test("a result goes where there is room for it, which may be where its base is", () => {
  const bases = noise(2 * BASE.length);
  const base = bases.subarray(0, BASE.length);
  base.set(BASE);
  const delta = Uint8Array.of(...BASE_SIZE, 3, 0x91, 9, 2, 1, 65);
  const expected = codec.applyDelta(BASE, delta);
  const made = codec.applyDelta(base, delta, bases);
  expect(made).toEqual(expected);
  expect(made.buffer).toBe(bases.buffer);
  const elsewhere = codec.applyDelta(BASE, delta, new Uint8Array(2));
  expect(elsewhere).toEqual(expected);
});

/** A size as encoded in a delta: seven bits a byte, the lowest first. */
function encodeSize(sizeBytes: number): number[] {
  return sizeBytes < 128 ? [sizeBytes] : [128 + (sizeBytes % 128), ...encodeSize(Math.floor(sizeBytes / 128))];
}

test("no damage to a delta does more than be refused, or give a result of the claimed size", () => {
  const delta = Uint8Array.of(...BASE_SIZE, 0x94, 1, 0x91, 9, 100, 40, ...noise(40), 0x92, 3, 8);
  let refused = 0;
  for (let bit = 0; bit < delta.length * 8; bit++) {
    const damaged = Uint8Array.from(delta);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    try {
      expect(codec.applyDelta(BASE, damaged).length).toBe(148);
    } catch (error) {
      expect(error).toEqual(
        expect.objectContaining({ code: expect.stringMatching(/corrupt-delta|too-large/) as string }),
      );
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(50);
});
