// Small packs of directories that are very wide, or whose names are very long. Whatever shows or
// walks paths answers within 2 s, 64 MiB and 8 MiB of text, and others are served meanwhile.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostileHistory } from "../harness/hostile-draft.ts";
import { HostileRun } from "../harness/hostile-run.ts";
import { deepWideBomb, longNamesBomb, repeatedNamesBomb, wideBomb } from "../harness/path-bombs.ts";

let run: HostileRun;
let seed = 0;

beforeAll(async () => {
  run = await HostileRun.open();
});
afterAll(() => run.close());

/** What only an operator asks for: it reads every object. */
const OPERATED = /\/(fsck|maintenance|backup\.bundle)$/;

async function expectAnswers(history: HostileHistory, packBytes: number): Promise<void> {
  expect(history.pack.length).toBeLessThan(packBytes);
  await run.run(++seed, history, (name) => !OPERATED.test(name));
  expect(run.misanswers.splice(0)).toEqual([]);
}

test("7,000 names of 4 KB", { tags: "sweep", timeout: 300_000 }, () => expectAnswers(longNamesBomb(7_000), 1_000_000));

test("100 directories of 500 names of 4 KB", { tags: "sweep", timeout: 300_000 }, () =>
  expectAnswers(repeatedNamesBomb(100, 500), 1_000_000),
);

test("300,000 files below a path of 3,600 bytes", { tags: "sweep", timeout: 300_000 }, () =>
  expectAnswers(deepWideBomb(300_000), 8_000_000),
);

test("600,000 files in a directory", { tags: "sweep", timeout: 300_000 }, () =>
  expectAnswers(wideBomb(600_000), 16_000_000),
);
