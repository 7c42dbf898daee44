import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_LIMITS, lowerLimits } from "../../../src/base/format/configured-limits.ts";
import {
  BODY_WAIT_MS,
  checkLimit,
  MAX_JSON_BYTES,
  MIN_BODY_BYTES,
  MAX_COMPARED_BYTES,
} from "../../../src/base/format/limits.ts";
import { PROJECT } from "../../harness/build.ts";

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

test("the table of limits has those that a request by itself can meet", () => {
  const document = readFileSync(join(PROJECT, "docs/operations.md"), "utf8").replace(/ +/g, " ");
  const mib = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;
  expect(document).toContain(`| a commit through the API | a body of ${mib(MAX_JSON_BYTES)}, `);
  expect(document).toContain(`${MIN_BODY_BYTES / 1024} KiB in each ${BODY_WAIT_MS / 1_000} seconds, else 408`);
  expect(document).toContain(`(\`format=diff\`) | each changed file ${mib(MAX_COMPARED_BYTES)}, old and new together`);
});
