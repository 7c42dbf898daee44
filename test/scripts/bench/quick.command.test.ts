import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readSamples } from "../../../scripts/bench/figures/sample.ts";
import { PROJECT } from "../../harness/build.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

const SCRIPT = join(PROJECT, "scripts/bench.ts");

/** Without a case, as it is the default. */
function run(options: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [SCRIPT, ...options]);
}

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
  const { stdout, stderr } = await run(options);
  expect(stdout).toMatch(/^work +files +measure +holdfast$/m);
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

test("it says when nobody answers at a URL", async () => {
  await expect(run(["--url", "http://127.0.0.1:1", "--files", "20"])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining("127.0.0.1:1") as string,
  });
});

test.each([
  [["--rounds", "none"], "--rounds none: not a positive whole number"],
  [["nothing"], "nothing is no case: quick, follow, core"],
  [["core", "--only", "less"], "--only less: not one of push, fetch, noise"],
  [["quick", "--files", "1,x"], "--files x: not a positive whole number"],
  [["quick", "--rounds", "1", "--rounds", "2"], "--rounds is given 2 times"],
  [["core", "more"], "'more' is no option"],
  [["store", "--url", "here"], "here: not the URL of a server"],
] as const)("%j is told in one line, with status 2", async (options, line) => {
  const told = expect.stringMatching(new RegExp(`^${line}.*\n$`)) as string;
  await expect(run(options)).rejects.toMatchObject({ code: 2, stdout: "", stderr: told });
});

test("help lists every case, and each tells of its options", async () => {
  const { stdout } = await run(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name]) => name!);
  expect(names).toEqual(
    expect.arrayContaining(["quick", "core", "fetch", "storm", "store", "codec", "rest", "operations", "profile"]),
  );
  for (const name of names) expect((await run([name, "--help"])).stdout).toMatch(/^Usage: [^]* --csv FILE /);
});

test("Ctrl-C ends a benchmark at once, and what it was at is not told of as failed", async () => {
  const csv = join(makeTempDir("quick"), "quick.csv");
  const options = ["--files", "20", "--rounds", "100", "--no-native", "--csv", csv];
  // A group of its own, as a terminal makes it, so that its git is interrupted too.
  const child = spawn(process.execPath, [SCRIPT, ...options], { stdio: ["ignore", "pipe", "pipe"], detached: true });
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
