import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty folder for one test. The run's global setup makes the folder that holds them all and removes it at
 * the end; outside a test run, the process removes its own as it exits. */
export function makeTempDir(name: string): string {
  const runDir = process.env["HOLDFAST_TEST_DIR"];
  const dir = mkdtempSync(join(runDir ?? tmpdir(), `${name}-`));
  if (runDir === undefined) process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
