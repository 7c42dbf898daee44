import { expect, test } from "vitest";
import { DEFAULT_LIMITS, lowerLimits } from "../../src/format/configured-limits.ts";
import { checkLimit } from "../../src/format/limits.ts";

test("configuration lowers a cap and leaves the others", () => {
  expect(lowerLimits({ maxPackObjects: 10 })).toEqual({ ...DEFAULT_LIMITS, maxPackObjects: 10 });
  expect(lowerLimits({})).toEqual(DEFAULT_LIMITS);
});

test.each([DEFAULT_LIMITS.maxPackObjects + 1, -1, 1.5, NaN, Infinity])("a cap cannot become %d", (maxPackObjects) => {
  expect(() => lowerLimits({ maxPackObjects })).toThrow(RangeError);
});

test("the cap itself is allowed, one more is not", () => {
  checkLimit("the pack", 10, 10);
  expect(() => checkLimit("the pack", 10, 11)).toThrow(
    expect.objectContaining({ code: "too-large", data: { what: "the pack", limit: 10, actual: 11 } }),
  );
});
