import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Creates an empty directory for one test. The run's global setup creates the parent directory and
 * removes it at the end; outside a test run, the process removes its own on exit.
 * @param parent where to create it, unless that is in the run's directory */
export function makeTempDir(name: string, parent = tmpdir()): string {
  const runDir = process.env["HOLDFAST_TEST_DIR"];
  const dir = mkdtempSync(join(runDir ?? parent, `${name}-`));
  // A child process that is just ending may still write there.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 50 };
  if (runDir === undefined) process.once("exit", () => rmSync(dir, options));
  return dir;
}
