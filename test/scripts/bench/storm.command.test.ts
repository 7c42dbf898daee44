import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listStorms, STORM_NAMES } from "../../../scripts/bench/cases/storm.ts";
import { Bench } from "../../../scripts/bench/figures/bench.ts";
import { readSamples } from "../../../scripts/bench/figures/sample.ts";
import { makeNoise } from "../../harness/fast-import.ts";
import { askApi } from "../../harness/api.ts";
import { PROJECT } from "../../harness/build.ts";
import { startServer } from "../../harness/server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

/** Runs the command as a user does: in a folder of its own, which Apache can get to. */
function runStorm(options: readonly string[], token?: string): Promise<{ stdout: string }> {
  const env = { ...process.env, HOLDFAST_TEST_DIR: undefined, HOLDFAST_TOKEN: token };
  return promisify(execFile)(process.execPath, [join(PROJECT, "scripts/bench.ts"), "storm", ...options], { env });
}

test("rounds keep apart what a turn shows of several works, and drop the first one", async () => {
  let count = 0;
  const turn = async (): Promise<[{ cache: string }, { s: number }][]> => [
    [{ cache: "cold" }, { s: count++ }],
    [{ cache: "warm" }, { s: count++ }],
  ];
  await using stack = new AsyncDisposableStack();
  const bench = new Bench(stack);
  await bench.takeRounds("test", 2, [["holdfast", turn]]);
  const { samples } = bench;
  expect(samples.map(({ work, round, value }) => [work["cache"], round, value])).toEqual([
    ["cold", 1, 2],
    ["warm", 1, 3],
    ["cold", 2, 4],
    ["warm", 2, 5],
  ]);
});

test("every storm has a name to be chosen by", async () => {
  const storms = await listStorms(await makeNoise(1), 3);
  expect(Object.keys(storms)).toEqual([...STORM_NAMES]);
  expect(storms.depths).toMatchObject({ client: "raw", storm: "depths 1 to N" });
});

test("a storm finds its responses stored the second time, and none where the cache is off", async () => {
  const { dir } = await makeNoise(20);
  const csv = join(makeTempDir("csv"), "storm.csv");
  const few = ["--clients", "2", "--rounds", "1", "--only", "depth-1"];
  const { stdout } = await runStorm([...few, "--bundle", dir, "--csv", csv]);
  expect(stdout).toMatch(/^client +clients +storm +cache +repository +measure +native +holdfast +ratio/);
  const samples = readSamples(csv);
  const read = (cache: string, measure: string, side = "holdfast"): number[] =>
    samples
      .filter((one) => one.work["cache"] === cache && one.measure === measure && one.side === side)
      .map(({ value }) => value);
  expect(read("warm", "hits")).toEqual([2]);
  expect([read("off", "hits"), read("off", "shared"), read("off", "misses")]).toEqual([[0], [0], [2]]);
  for (const side of ["native", "holdfast"]) {
    for (const cache of ["cold", "warm", "off"]) {
      expect(read(cache, "client s", side)).toHaveLength(2);
      expect(read(cache, "bodies MB", side)[0]).toBeGreaterThan(0.24);
    }
  }
});

test("a storm of a server that asks for tokens: what it needs is said, and with it every fetch is let in", async () => {
  const vars = { ACCESS: "token", ADMIN_TOKEN: "operator" };
  const server = await startServer({ vars });
  const make = async (right: string): Promise<string> => {
    const headers = { Authorization: `Bearer ${vars.ADMIN_TOKEN}` };
    const json = { owner: "bench", name: right, right };
    const { status, body } = await askApi<{ token: string }>(server, "/tokens", { method: "POST", headers, json });
    expect(status).toBe(201);
    return body.token;
  };
  const { dir } = await makeNoise(20);
  const few = ["--no-native", "--clients", "2", "--rounds", "1", "--only", "depth-1", "--bundle", dir];
  const options = ["--url", server.url, ...few];
  const needed = {
    stderr: expect.stringMatching(/may administer all that "bench" owns: set HOLDFAST_TOKEN/) as string,
  };
  await expect(runStorm(options)).rejects.toMatchObject(needed);
  await expect(runStorm(options, await make("write"))).rejects.toMatchObject(needed);
  const { stdout } = await runStorm(options, await make("admin"));
  expect(stdout).toMatch(/warm .* hits +2\.00/);
  await server.close();
});
