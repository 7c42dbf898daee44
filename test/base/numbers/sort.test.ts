import { expect, test } from "vitest";
import { sortIndices } from "../../../src/base/numbers/number-set.ts";
import { Random } from "../../harness/random.ts";

// Sizes around that from which on keys are sorted by their digits.
test.each([0, 1, 2, 2_047, 2_048, 2_049, 100_000])(
  "%i keys are put in order, and equal ones left in theirs",
  (count) => {
    const random = new Random(count);
    const keys = Uint32Array.from({ length: count }, (_, i) => (i % 3 === 0 ? random.below(9) : random.below(2 ** 32)));
    const expected = Array.from(keys, (_, i) => i).sort((a, b) => keys[a]! - keys[b]! || a - b);
    expect([...sortIndices(keys)]).toEqual(expected);
  },
);
