import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { CpuProfile } from "../../scripts/bench/profile/cpu-profile.ts";
import { PROJECT } from "../harness/build.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

function profile(...args: string[]) {
  const command = [join(PROJECT, "scripts/bench.ts"), "profile", ...args];
  return promisify(execFile)(process.execPath, command, { maxBuffer: 16 * 1024 * 1024 });
}

test("saving a file shows the functions of src that do it, by their places", async () => {
  const out = makeTempDir("profiles");
  const sizes = ["--clients", "2", "--rounds", "20", "--files", "5", "--interval", "200", "--top", "1000"];
  const { stdout } = await profile("--load", "save", ...sizes, "--out", out);
  expect(stdout).toMatch(/ms\/save\nHoldfast \(core:user:holdfast\) +\d+/);
  expect(stdout).toMatch(/^object\/\w+ +\d/m);
  expect(stdout).toMatch(/ transact +src\/object\/state\/repository-state\.ts:\d+$/m);
  expect(stdout).toMatch(/^.* exec$/m);
  const written = JSON.parse(readFileSync(join(out, "save.cpuprofile"), "utf8")) as CpuProfile;
  expect(written.samples).toHaveLength(written.timeDeltas.length);
  const ids = new Set(written.nodes.map(({ id }) => id));
  expect(written.samples.every((id) => ids.has(id))).toBe(true);
});

test("a load that there is not, or a size that is none, is said", async () => {
  await expect(profile("--load", "dig")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("save, save-one") as string,
  });
  await expect(profile("--rounds", "0")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--rounds 0: not a positive whole number") as string,
  });
  const { stdout } = await profile("--help");
  expect(stdout).toMatch(/^ {2}storm-warm /m);
});
