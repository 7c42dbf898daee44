import { expect, test } from "vitest";
import { parseRange } from "../../../src/base/format/conditional-request.ts";

test.each([
  ["bytes=0-0", { start: 0, length: 1 }],
  ["bytes=0-99", { start: 0, length: 100 }],
  ["bytes=0-100", { start: 0, length: 100 }],
  ["bytes=10-", { start: 10, length: 90 }],
  ["bytes=99-99", { start: 99, length: 1 }],
  ["bytes=99-99999999999999999999999", { start: 99, length: 1 }],
  ["bytes=-1", { start: 99, length: 1 }],
  ["bytes=-100", { start: 0, length: 100 }],
  ["bytes=-101", { start: 0, length: 100 }],
  ["Bytes= 5-6 ", { start: 5, length: 2 }],
])("%s of 100 bytes", (header, range) => {
  expect(parseRange(header, 100)).toEqual(range);
});

test.each(["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999999-"])(
  "%s has no byte in it",
  (header) => {
    expect(parseRange(header, 100)).toBe("unsatisfiable");
  },
);

test.each([null, "", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "bytes 0-1", "0-1"])(
  "%s is for nothing",
  (header) => {
    expect(parseRange(header, 100)).toBeNull();
  },
);
