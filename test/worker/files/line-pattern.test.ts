import { expect, test } from "vitest";
import { LinePattern } from "../../../src/worker/files/line-pattern.ts";
import { measureCpu } from "../../harness/measure-cpu.ts";
import { testSome } from "../../harness/sweep.ts";

const LINE_CHARS = 256 * 1024;

/** Without their limits, the last two take minutes and the others hours. */
const BOUND_MS = 20_000;

const HOSTILE: readonly (readonly [string, string, word: boolean, line: string])[] = [
  ["words that might go on to the line's end", "-a.*z|-", true, "-ab".repeat(LINE_CHARS / 3)],
  ["backtracking elsewhere", "(a+)+$", false, `${"a".repeat(LINE_CHARS)}!`],
  ["states without number elsewhere", "(a|b)*a(a|b){200}c", false, "abba".repeat(LINE_CHARS / 4)],
  ["words that are looked for again from each word", "a.*?b|a", true, "ba ".repeat(LINE_CHARS / 3)],
  ["many ways to end at the line's end", "a{1,1000}$", false, "a".repeat(LINE_CHARS)],
  ["repetitions of repetitions", "(a{1,30}){1,30}$", false, "a".repeat(LINE_CHARS)],
];

testSome(2, HOSTILE, "%s: %s", async ([, pattern, word, line]) => {
  const [compiled, cpuMs] = await measureCpu(() => {
    const one = new LinePattern({ pattern, word, fixed: false, ignoreCase: false });
    one.find(line);
    return one;
  });
  expect(cpuMs).toBeLessThan(BOUND_MS);
  // A search charges its budget at least a step for each character.
  expect(compiled.steps).toBeGreaterThanOrEqual(line.length);
});

test("what a pattern stands for is bounded, and its nesting", () => {
  const compile = (pattern: string) => new LinePattern({ pattern, word: false, fixed: false, ignoreCase: false });
  expect(() => compile("(a{1000}){1000}")).toThrow(expect.objectContaining({ code: "invalid" }));
  expect(() => compile("(a?){1000}a{1000}")).toThrow(expect.objectContaining({ code: "too-large" }));
  for (const deep of ["(".repeat(500) + ")".repeat(500), `${"(?:".repeat(240)}a${")*".repeat(240)}`]) {
    try {
      expect(compile(deep).find("b")).toBeGreaterThanOrEqual(-1);
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid" });
    }
  }
});
