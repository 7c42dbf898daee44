import { expect, test } from "vitest";
import { StepBudget } from "../../../src/base/format/step-budget.ts";
import { WildPattern } from "../../../src/base/format/wildmatch.ts";
import { measureCpu } from "../../harness/measure-cpu.ts";

// sparse-patterns.test.ts shows that git agrees; here are texts that cannot be paths, and hostile
// patterns.

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
])("hostile %s take no more time than the product of the lengths", async (_, pattern, text) => {
  const [matches, cpuMs] = await measureCpu(() => new WildPattern(pattern).matches(text));
  expect(matches).toBe(false);
  expect(cpuMs).toBeLessThan(3_000);
});

test("a pattern can be used again", () => {
  const pattern = new WildPattern("a*b");
  expect(["ab", "b", "axb", "ax", "ab"].map((text) => pattern.matches(text))).toEqual([true, false, true, false, true]);
});

test("a pattern as long as a file of them, of stars or of letters, takes no stack", () => {
  expect(new WildPattern("**/".repeat(21_000)).matches("a/b/")).toBe(true);
  expect(new WildPattern("a".repeat(65_536)).matches("a".repeat(65_536))).toBe(true);
});

test("what a match costs is taken from a budget, which ends it midway", () => {
  const pattern = new WildPattern("*a".repeat(1_000));
  const enough = new StepBudget(10_000_000);
  expect(pattern.matches("a".repeat(1_000), enough)).toBe(true);
  expect(enough.spent).toBeGreaterThan(100_000);
  const tooLittle = new StepBudget(50_000);
  expect(() => pattern.matches("a".repeat(1_000), tooLittle)).toThrow(
    expect.objectContaining({ code: "too-large", data: { what: "matching paths (steps)", limit: 50_000 } }),
  );
  expect(tooLittle.spent).toBeLessThan(60_000);
});
