import { expect, test } from "vitest";
import {
  compareOids,
  equalOids,
  fromHex,
  isHexOid,
  isNullOid,
  NULL_OID,
  NULL_OID_HEX,
  OID_BYTES,
  toHex,
} from "../../../src/base/format/oid.ts";
import { Random } from "../../harness/random.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

test("hex and binary round-trip, also out of a table", () => {
  expect(toHex(fromHex(EMPTY_TREE))).toBe(EMPTY_TREE);
  const random = new Random(2);
  for (let round = 0; round < 1_000; round++) {
    const table = random.bytes(3 * OID_BYTES);
    const hex = toHex(table, OID_BYTES);
    expect(hex).toBe(Buffer.from(table.subarray(OID_BYTES, 2 * OID_BYTES)).toString("hex"));
    expect(fromHex(hex)).toEqual(table.subarray(OID_BYTES, 2 * OID_BYTES));
  }
});

test.each([
  "",
  EMPTY_TREE.slice(1),
  `${EMPTY_TREE}0`,
  EMPTY_TREE.toUpperCase(),
  `g${EMPTY_TREE.slice(1)}`,
  `${EMPTY_TREE}\n`,
])("%j is not an oid", (text) => {
  expect(isHexOid(text)).toBe(false);
  expect(() => fromHex(text)).toThrow(expect.objectContaining({ code: "bad-request" }));
});

test("the null oid is itself alone", () => {
  expect(isNullOid(NULL_OID)).toBe(true);
  expect(toHex(NULL_OID)).toBe(NULL_OID_HEX);
  expect(isNullOid(fromHex(EMPTY_TREE))).toBe(false);
});

test("binary order is the order of the hex", () => {
  const random = new Random(3);
  const oids = Array.from({ length: 200 }, () => random.bytes(OID_BYTES));
  expect(oids.toSorted(compareOids).map((oid) => toHex(oid))).toEqual(oids.map((oid) => toHex(oid)).sort());
  expect(equalOids(oids[0]!, oids[0]!.slice())).toBe(true);
  expect(equalOids(oids[0]!, oids[1]!)).toBe(false);
});
