import { expect, test } from "vitest";
import { decodeText, encodeText, fromByteString, toByteString } from "../../../src/base/format/byte-string.ts";
import { Random } from "../../harness/random.ts";

test("every byte is one char code, and comes back", () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const byteString = toByteString(all);
  expect(Array.from(byteString, (char) => char.charCodeAt(0))).toEqual([...all]);
  expect(fromByteString(byteString)).toEqual(all);
});

test("long byte strings round-trip", () => {
  const bytes = new Random(1).bytes(100_000);
  expect(fromByteString(toByteString(bytes))).toEqual(bytes);
});

test("text becomes its UTF-8 bytes, and back; a BOM stays", () => {
  expect(encodeText("é")).toBe("\xc3\xa9");
  expect(decodeText(encodeText("\ufeff naïve 🎉"))).toBe("\ufeff naïve 🎉");
  expect(decodeText("\xff")).toBe("\ufffd");
});

test("text that was never encoded is refused, not mangled", () => {
  expect(() => fromByteString("🎉")).toThrow(RangeError);
});
