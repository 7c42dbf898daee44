// Large deltas are applied outside the module. Both implementations must agree on every delta.
import { expect, test } from "vitest";
import { applyLargeDelta } from "../../../src/base/codec/apply-delta.ts";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { copy, encodeDelta, insert } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";

const codec = instantiateCodec(wasm);

/** The result of a delta, or its error. */
function outcome(apply: () => Uint8Array): string {
  try {
    return Buffer.from(apply()).toString("base64");
  } catch (error) {
    return String(error);
  }
}

test("deltas, whole and damaged, as the module applies them", { tags: "sweep" }, () => {
  const random = new Random(11);
  const base = random.bytes(100_000);
  let good = 0;
  for (let round = 0; round < 2_000; round++) {
    const instructions: Buffer[] = [];
    let size = 0;
    for (let k = random.below(8); k >= 0; k--) {
      const isCopy = random.below(2) === 0;
      const length = isCopy ? 1 + random.below(random.below(4) === 0 ? 70_000 : 500) : 1 + random.below(127);
      const start = isCopy ? random.below(base.length - length + 1) : 0;
      instructions.push(isCopy ? copy(start, length) : insert(random.bytes(length)));
      size += length;
    }
    const delta = encodeDelta(base.length, size, ...instructions);
    if (round % 2 === 1) delta[random.below(delta.length)] = random.below(256);
    const cut = round % 8 === 3 ? delta.subarray(0, random.below(delta.length)) : delta;
    // Nothing is allocated for a size that is only claimed: the codec has checked it before.
    const expected = outcome(() => codec.applyDelta(base, cut));
    if (expected.includes("exceeds the limit")) continue;
    expect(outcome(() => applyLargeDelta(base, cut))).toBe(expected);
    if (!expected.includes("corrupt")) good += 1;
  }
  expect(good).toBeGreaterThan(1_000);
});
