import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readSamples } from "../../../scripts/bench/figures/sample.ts";
import { findAuthorsMs } from "../../../scripts/bench/work/authors.ts";
import { PROJECT } from "../../harness/build.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const SCRIPT = join(PROJECT, "scripts/bench.sh");
const run = promisify(execFile);

const JOURNEY = ["push", "clone", "incremental push", "fetch"];
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
  const options = ["--files", "20", "--rounds", "2", "--requests", "3", "--no-native", "--csv", csv];
  const { stdout, stderr } = await run(SCRIPT, options);
  expect(stdout).toMatch(/^work +files +measure +holdfast +authors ms$/m);
  expect(stderr).toMatch(/took \d+ s/);
  const samples = readSamples(csv);
  expect([...new Set(samples.map(({ work }) => work["work"]))]).toEqual([...JOURNEY, ...ROUTES]);
  for (const { work, side, measure, value } of samples) {
    expect([work["files"], side]).toEqual([20, "holdfast"]);
    expect(["wall ms", "server CPU ms"]).toContain(measure);
    expect(value).toBeGreaterThanOrEqual(measure === "wall ms" ? Number.MIN_VALUE : 0);
  }
  const roundsOf = (name: string, of: string): number[] =>
    samples.filter(({ work, measure }) => work["work"] === name && measure === of).map(({ round }) => round);
  for (const work of JOURNEY) {
    expect([work, roundsOf(work, "wall ms"), roundsOf(work, "server CPU ms")]).toEqual([work, [1, 2], [1, 2]]);
  }
  for (const route of ROUTES) expect([route, roundsOf(route, "wall ms")]).toEqual([route, [1, 1, 1, 2, 2, 2]]);
});

test("the quick benchmark takes a URL in front, and says when nobody answers there", async () => {
  const away = run(SCRIPT, ["http://127.0.0.1:1", "--files", "20"]);
  const wrong = run(SCRIPT, ["--rounds", "none"]);
  await Promise.all([
    expect(away).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("127.0.0.1:1") as string }),
    expect(wrong).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("--rounds none") as string }),
  ]);
});

test("Ctrl-C ends a benchmark at once, and what it was at is not told of as failed", async () => {
  const csv = join(makeTempDir("quick"), "quick.csv");
  const options = ["--files", "20", "--rounds", "100", "--no-native", "--csv", csv];
  // A group of its own, as a terminal makes it, so that its git is interrupted too.
  const child = spawn(SCRIPT, options, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  let told = "";
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    told += text;
    if (told.includes("round 2 of")) process.kill(-child.pid!, "SIGINT");
  });
  const [code] = (await once(child, "close")) as [number | null];
  expect({ code, shown }).toEqual({ code: 130, shown: "" });
  expect(told).not.toContain("failed");
  expect(existsSync(csv)).toBe(false);
});

test("the authors' figures are told of their sizes alone", () => {
  expect(findAuthorsMs("push", 5000)).toBe(3400);
  expect(findAuthorsMs("push", 20)).toBeUndefined();
  expect(findAuthorsMs("fetch", 100)).toBeUndefined();
});
