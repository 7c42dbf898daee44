import { afterEach, expect, test } from "vitest";
import { Random } from "../../harness/random.ts";
import { restoreRealTime, VirtualTime } from "./virtual-time.ts";

const real = { now: Date.now, setTimeout: globalThis.setTimeout };

function expectRealTime(): void {
  expect({ now: Date.now, setTimeout: globalThis.setTimeout }).toEqual(real);
  expect(Object.hasOwn(crypto, "randomUUID")).toBe(false);
}

/** The run of the test that times out. */
let stuck: { readonly run: Promise<void>; readonly restore: () => void; readonly goOn: () => void };

afterEach(restoreRealTime);

test.fails("a run that hangs", { timeout: 100 }, async () => {
  const time = new VirtualTime();
  const restore = time.install(new Random(1));
  expect(Date.now()).toBe(Date.UTC(2026, 0, 1));
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  time.after(0, () => promise);
  stuck = { run: time.run(time.sleep(1)), restore, goOn };
  await stuck.run;
});

test("the next test has the real time, and the run that hung ends without touching the clock again", async () => {
  expectRealTime();
  stuck.goOn();
  await expect(stuck.run).rejects.toThrow("the real time came back");
  const next = new VirtualTime();
  const restore = next.install(new Random(2));
  stuck.restore();
  expect(Date.now()).toBe(next.nowMs);
  restore();
  expectRealTime();
});

test("two runs at a time are refused", () => {
  new VirtualTime().install(new Random(1));
  expect(() => new VirtualTime().install(new Random(2))).toThrow("another run has replaced the clock");
});
