import { expect, test } from "vitest";
import { WildPattern } from "../../src/format/wildmatch.ts";

// That git agrees is shown by sparse-patterns.test.ts; here are texts that cannot be paths, and hostile patterns.

test.each([
  ["foo/*/bar", "foo//bar", true],
  ["foo/**/bar", "foo//bar", true],
  ["**/foo", "/foo", true],
  ["foo/**", "foo/", true],
  ["foo/**", "foo", false],
  ["foo/*", "foo/", true],
  ["", "", true],
  ["", "a", false],
  ["*", "", true],
  ["**", "", true],
  ["**/**/**", "", true],
  ["?", "", false],
  ["?", "/", false],
  ["[/]", "/", false],
  ["[!a]", "/", false],
  ["**/*a*b*g*n*t", "abcd/abcdefg/abcdefghijk/abcdefghijklmnop.txt", true],
  ["*/*/*", "a/b", false],
  ["**/t[o]", "x/y/to", true],
])("%s against %s: %s", (pattern, text, expected) => {
  expect(new WildPattern(pattern).matches(text)).toBe(expected);
});

test.each([
  ["stars", `${"a*".repeat(2_000)}b`, "a".repeat(4_000)],
  ["stars over slashes", `${"**/a/".repeat(1_000)}b`, "a/".repeat(2_000)],
  ["stars of both kinds", `${"**/*a*/".repeat(500)}b`, `${"aa/".repeat(1_500)}c`],
])("hostile %s take no more time than the product of the lengths", (_, pattern, text) => {
  const start = performance.now();
  expect(new WildPattern(pattern).matches(text)).toBe(false);
  expect(performance.now() - start).toBeLessThan(3_000);
});

test("a pattern can be used again", () => {
  const pattern = new WildPattern("a*b");
  expect(["ab", "b", "axb", "ax", "ab"].map((text) => pattern.matches(text))).toEqual([true, false, true, false, true]);
});
