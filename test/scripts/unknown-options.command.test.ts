import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { StartedCommand } from "./started-server.ts";

/** What reads a command line, in a file that is run. */
const READS = /\b(readCommandLine|runCommandLine|runProgram)\b/;

const scripts = readdirSync(join(PROJECT, "scripts"))
  .map((name) => `scripts/${name}`)
  .filter((path) => path.endsWith(".ts"))
  .filter((path) => {
    const text = readFileSync(join(PROJECT, path), "utf8");
    return READS.test(text) && !/^export /m.test(text);
  });

/** All that the commands of checks and of measuring can do, as each tells of itself. */
const checks = ["verify", "stress", "bench"].flatMap((name) => {
  const script = `scripts/${name}.ts`;
  const told = execFileSync(process.execPath, [script, "--help"], { cwd: PROJECT, encoding: "utf8" });
  return Array.from(told.matchAll(/^ {2}([a-z-]+) {2}/gm), ([, what]) => [process.execPath, script, what!]);
});

describe("an option that a command does not know is told in one line, with status 2", () => {
  test("there are such commands", () => expect(scripts.length + checks.length).toBeGreaterThan(20));

  const commands = [["bash", "wasm/build.sh"]];
  test.each([...commands, ...scripts.map((path) => [process.execPath, path]), ...checks])(
    "%s %s %s",
    async (program, path, what = "") => {
      const args = [path!, ...what.split(" ").filter(Boolean), "--no-such"];
      const { status, stdout, stderr } = await new StartedCommand(program!, args).ended();
      expect(stdout).toBe("");
      expect(stderr).toMatch(/^(.*'--no-such'|--no-such is no option) ?.*--help.*\n$/);
      expect(status).toBe(2);
    },
  );
});

test("wasm/build.sh --help tells of it, and builds nothing", async () => {
  const before = readFileSync(join(PROJECT, "src/base/codec/holdfast.wasm"));
  const { status, stdout } = await new StartedCommand("bash", ["wasm/build.sh", "--help"]).ended();
  expect(stdout).toMatch(/^Usage: wasm\/build\.sh \[FILE\]\n/);
  expect(status).toBe(0);
  expect(readFileSync(join(PROJECT, "src/base/codec/holdfast.wasm"))).toEqual(before);
});
