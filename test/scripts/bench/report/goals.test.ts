import { expect, test } from "vitest";
import type { Sample } from "../../../../scripts/bench/figures/sample.ts";
import { formatGoals, type Goal, GOALS, judgeGoal, nameReason } from "../../../../scripts/bench/report/goals.ts";
import { PARTS } from "../../../../scripts/bench/report/parts/parts.ts";

const GOAL: Goal = {
  id: "push-wall",
  issue: 2,
  what: "push express: wall",
  part: "core",
  where: { work: "push", repository: "express" },
  measure: "wall s",
  over: "native",
  asked: "≤ 1.2×",
  most: 1.2,
};

function measure(side: string, ...values: number[]): Sample[] {
  const work = { work: "push", repository: "express" };
  return values.map((value, index) => ({ work, side, measure: "wall s", round: index + 1, value }));
}

test("a goal is met up to its figure, and missed above it", () => {
  const native = measure("native", 1, 1, 9);
  expect(judgeGoal(GOAL, [...native, ...measure("holdfast", 1.2, 0.1, 18)])).toMatchObject({
    figure: 1.2,
    state: "met",
  });
  expect(judgeGoal(GOAL, [...native, ...measure("holdfast", 1.21)])).toMatchObject({ state: "missed" });
});

test("a goal is not judged while one of its sides is missing", () => {
  expect(judgeGoal(GOAL, measure("holdfast", 1)).state).toBe("not measured");
  expect(judgeGoal(GOAL, measure("native", 1)).state).toBe("not measured");
  expect(judgeGoal({ ...GOAL, over: { work: "clone" } }, measure("holdfast", 1)).state).toBe("not measured");
});

test("a goal may be of a percentile, and of no ratio", () => {
  const goal: Goal = { ...GOAL, over: "nothing", share: 0.9, most: 1.8 };
  expect(judgeGoal(goal, measure("holdfast", 1, 2))).toMatchObject({ figure: 1.9, state: "missed" });
});

test("a goal may hold Holdfast against itself", () => {
  const before = measure("holdfast", 1).map((sample) => ({ ...sample, work: { work: "before" } }));
  const goal: Goal = { ...GOAL, over: { work: "before" } };
  expect(judgeGoal(goal, [...before, ...measure("holdfast", 1.1)])).toMatchObject({ figure: 1.1, state: "met" });
});

test("a goal that is missed leads to the reason, where the page gives one", () => {
  const verdict = judgeGoal(GOAL, [...measure("native", 1), ...measure("holdfast", 1.5)]);
  expect(formatGoals([verdict], new Set())).toContain("| 1.50×, 1.50 to 1.00 s | **missed** |");
  expect(formatGoals([verdict], new Set([nameReason(GOAL)]))).toContain("| **missed**, [why](#why-push-wall) |");
});

test("every goal has an id of its own, and a part that shows it", () => {
  expect(new Set(GOALS.map(({ id }) => id)).size).toBe(GOALS.length);
  const names = PARTS.map(({ name }) => name);
  expect(GOALS.filter(({ part }) => !names.includes(part))).toEqual([]);
});
