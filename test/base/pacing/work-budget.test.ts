import { afterEach, expect, test, vi } from "vitest";
import { WorkBudget } from "../../../src/base/pacing/work-budget.ts";

afterEach(() => vi.useRealTimers());

test("work is counted, however long it takes", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const budget = new WorkBudget(10);
  for (let i = 0; i < 10; i++) {
    expect(budget.isSpent).toBe(false);
    vi.advanceTimersByTime(1_500);
    await budget.step();
  }
  expect(budget.isSpent).toBe(true);
});

test("a client waits no longer than twenty seconds", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const budget = new WorkBudget(10);
  vi.advanceTimersByTime(20_000);
  expect(budget.isSpent).toBe(true);
});
