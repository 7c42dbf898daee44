import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { StartedCommand } from "./started-server.ts";

/** What reads a command line, in a file that is run. */
const READS = /\b(readCommandLine|runCommandLine|runCommand|runBenchmark|verifySamples|checkServed)\b/;

const scripts = ["scripts", "scripts/verify", "scripts/bench"]
  .flatMap((dir) => readdirSync(join(PROJECT, dir)).map((name) => `${dir}/${name}`))
  .filter((path) => path.endsWith(".ts"))
  .filter((path) => {
    const text = readFileSync(join(PROJECT, path), "utf8");
    return READS.test(text) && !/^export /m.test(text);
  });

describe("an option that a command does not know is told in one line, with status 2", () => {
  test("there are such commands", () => expect(scripts.length).toBeGreaterThan(20));

  const commands = ["scripts/bench.sh", "scripts/stress.sh", "scripts/profile", "wasm/build.sh"];
  test.each([...commands.map((path) => ["bash", path]), ...scripts.map((path) => [process.execPath, path])])(
    "%s %s",
    async (program, path) => {
      const { status, stdout, stderr } = await new StartedCommand(program!, [path!, "--no-such"]).ended();
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^(.*'--no-such'|--no-such is no option) ?.*--help.*\n$/);
      expect(status).toBe(2);
    },
  );
});

test("wasm/build.sh --help tells of it, and builds nothing", async () => {
  const before = readFileSync(join(PROJECT, "src/codec/holdfast.wasm"));
  const { status, stdout } = await new StartedCommand("bash", ["wasm/build.sh", "--help"]).ended();
  expect(stdout).toMatch(/^Usage: wasm\/build\.sh \[FILE\]\n/);
  expect(status).toBe(0);
  expect(readFileSync(join(PROJECT, "src/codec/holdfast.wasm"))).toEqual(before);
});
