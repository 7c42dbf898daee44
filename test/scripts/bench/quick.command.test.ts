import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readSamples } from "../../../scripts/bench/figures/sample.ts";
import { findAuthorsMs } from "../../../scripts/bench/work/authors.ts";
import { PROJECT } from "../../harness/build.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const SCRIPT = join(PROJECT, "scripts/bench.sh");
const run = promisify(execFile);

/** The works of a journey, and how many samples of them two rounds give. */
const JOURNEY = { push: 2, clone: 2, "incremental push": 4, fetch: 4 };
const ROUTES = [
  "list of repositories",
  "repository",
  "branches",
  "log",
  "files",
  "all files",
  "raw file",
  "stats",
  "contributors",
];

test("the quick benchmark measures every work of a size, and writes each value down", async () => {
  const csv = join(makeTempDir("quick"), "quick.csv");
  const options = ["--files", "20", "--rounds", "2", "--changes", "2", "--requests", "3", "--no-native", "--csv", csv];
  const { stdout, stderr } = await run(SCRIPT, options);
  expect(stdout).toMatch(/^work +files +measure +holdfast +authors ms$/m);
  expect(stderr).toMatch(/took \d+ s/);
  const samples = readSamples(csv);
  expect([...new Set(samples.map(({ work }) => work["work"]))]).toEqual([...Object.keys(JOURNEY), ...ROUTES]);
  for (const { work, side, measure, value } of samples) {
    expect([work["files"], side]).toEqual([20, "holdfast"]);
    expect(["wall ms", "server CPU ms"]).toContain(measure);
    expect(value).toBeGreaterThanOrEqual(measure === "wall ms" ? Number.MIN_VALUE : 0);
  }
  const roundsOf = (name: string, of: string): number[] =>
    samples.filter(({ work, measure }) => work["work"] === name && measure === of).map(({ round }) => round);
  for (const [work, count] of Object.entries(JOURNEY)) {
    const rounds = Array.from({ length: count }, (_, index) => index + 1);
    expect([work, roundsOf(work, "wall ms"), roundsOf(work, "server CPU ms")]).toEqual([work, rounds, rounds]);
  }
  for (const route of ROUTES) expect([route, roundsOf(route, "wall ms")]).toEqual([route, [1, 2, 3]]);
});

test("the quick benchmark takes a URL in front, and says when nobody answers there", async () => {
  const away = run(SCRIPT, ["http://127.0.0.1:1", "--files", "20"]);
  const unequal = run(SCRIPT, ["--files", "20,30", "--rounds", "1"]);
  await Promise.all([
    expect(away).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("127.0.0.1:1") as string }),
    expect(unequal).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("need as many") as string }),
  ]);
});

test("the authors' figures are told of their sizes alone", () => {
  expect(findAuthorsMs("push", 5000)).toBe(3400);
  expect(findAuthorsMs("push", 20)).toBeUndefined();
  expect(findAuthorsMs("fetch", 100)).toBeUndefined();
});
