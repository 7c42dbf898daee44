import { deepEqual, equal, ok } from "node:assert/strict";
import { type Codec, instantiateCodec } from "../../src/base/codec/codec.ts";
import wasm from "../../src/base/codec/holdfast.wasm";
import { damagePack, refusalOf } from "../base/codec/damaged-pack.ts";
import { makeSamplePacks, type SamplePack } from "../base/codec/packs.ts";
import { copy, encodeDelta, insert } from "../harness/pack-builder.ts";
import { Random } from "../harness/random.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import { damaged } from "./mutations.ts";

const BASE = Buffer.from(new Random(7).bytes(70_000));

/** Applies a delta straight from the specification, slowly; null: it cannot be applied. @see
 * gitformat-pack(5) "Deltified representation" */
function applyByTheBook(base: Buffer, delta: Uint8Array, maxBytes: number): Buffer | null {
  let at = 0;
  const size = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = delta[at++];
      if (byte === undefined || scale > 2 ** 42) return Number.NaN;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  if (size() !== base.length) return null;
  const resultBytes = size();
  if (!(resultBytes <= maxBytes)) return null;
  const parts: Uint8Array[] = [];
  let madeBytes = 0;
  while (at < delta.length && madeBytes <= resultBytes) {
    const opcode = delta[at++]!;
    if (opcode === 0) return null;
    const wanted = { from: 0, bytes: opcode };
    let source: Uint8Array = delta;
    if (opcode < 0x80) {
      wanted.from = at;
      at += opcode;
    } else {
      const read = (...bits: number[]): number =>
        bits.reduce((value, bit, i) => (opcode & bit ? value + (delta[at++] ?? Number.NaN) * 256 ** i : value), 0);
      source = base;
      wanted.from = read(1, 2, 4, 8);
      wanted.bytes = read(16, 32, 64) || 0x10000;
      if (at > delta.length) return null;
    }
    if (!(wanted.from + wanted.bytes <= source.length)) return null;
    parts.push(source.subarray(wanted.from, wanted.from + wanted.bytes));
    madeBytes += wanted.bytes;
  }
  return madeBytes === resultBytes ? Buffer.concat(parts) : null;
}

function deltaTarget(codec: Codec): FuzzTarget {
  return {
    name: "delta",
    codes: ["corrupt-delta", "too-large"],
    make: (random) => {
      const base = random.below(10) === 0 ? 70_001 : BASE.length;
      let resultBytes = 0;
      const instructions = Array.from({ length: random.below(8) }, () => {
        if (random.below(2) === 0) {
          const text = random.bytes(1 + random.below(127));
          resultBytes += text.length;
          return insert(text);
        }
        const from = random.below(BASE.length);
        const bytes = 1 + random.below(BASE.length - from);
        resultBytes += bytes;
        return copy(from, bytes);
      });
      return damaged(random, encodeDelta(base, resultBytes, ...instructions));
    },
    run: (input) => {
      const expected = applyByTheBook(BASE, input, 32 * 1024 * 1024);
      let made: Uint8Array | null = null;
      try {
        made = codec.applyDelta(BASE, input);
      } finally {
        equal(made === null, expected === null, "the book says otherwise");
      }
      deepEqual(Buffer.from(made), expected);
    },
  };
}

function inflateTarget(codec: Codec): FuzzTarget {
  return {
    name: "inflate",
    codes: ["corrupt-pack", "too-large"],
    // The declared size comes first.
    make: (random) => {
      const content = random.bytes(random.below(256));
      return Buffer.concat([Buffer.from([content.length]), damaged(random, codec.deflate(content))]);
    },
    run: (input) => {
      const { content, consumed } = codec.inflate(input.subarray(1), input[0]!);
      equal(content.length, input[0]);
      ok(consumed <= input.length - 1);
    },
  };
}

/** Damaged packs: the verdict is the same for pieces of any size. pack-indexer-fuzz.test.ts shows
 * that git agrees. */
function packTarget(samples: readonly SamplePack[]): FuzzTarget {
  return {
    name: "pack",
    codes: ["corrupt-pack"],
    // The first byte selects the sample.
    make: (random) => {
      const sample = random.below(samples.length);
      return Buffer.concat([Buffer.from([sample]), damagePack(samples[sample]!, random).pack]);
    },
    run: (input, random) => {
      const { stored } = samples[input[0]!]!;
      const pack = input.subarray(1);
      const refusal = refusalOf(pack, { stored });
      const pieceBytes = 1 + random.below(2_000);
      const isResident = (): boolean => random.below(2) > 0;
      const inPieces = refusalOf(pack, { stored, pieceBytes, ringBytes: 65_536, isResident });
      equal(inPieces === null, refusal === null, `whole: ${refusal}, in pieces: ${inPieces}`);
    },
  };
}

/** The inputs of the codec's module. */
export async function codecTargets(): Promise<FuzzTarget[]> {
  const codec = instantiateCodec(wasm);
  const samples = (await makeSamplePacks()).filter(({ pack }) => pack.length > 32 && pack.length < 25_000);
  ok(samples.length > 3 && samples.length < 256);
  return [deltaTarget(codec), inflateTarget(codec), packTarget(samples)];
}
