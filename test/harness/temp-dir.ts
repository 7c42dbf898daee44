import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes an empty folder for one test. The run's global setup makes the folder that holds them all and removes it at
 * the end; outside a test run, the process removes its own as it exits. */
export function makeTempDir(name: string): string {
  const runDir = process.env["HOLDFAST_TEST_DIR"];
  const dir = mkdtempSync(join(runDir ?? tmpdir(), `${name}-`));
  // A process that was started, and is just being ended, may still write there.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
  if (runDir === undefined) process.once("exit", () => rmSync(dir, options));
  return dir;
}
