import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeTempDir } from "./temp-dir.ts";

/** The project's folder. */
export const PROJECT = join(import.meta.dirname, "../..");

/** Builds the Worker exactly as `wrangler deploy` would upload it.
 * @returns the folder with `worker.js` and the modules which it imports
 * @throws Error with wrangler's output if the build fails */
export async function buildWorker(): Promise<string> {
  const dir = makeTempDir("worker");
  const wrangler = join(PROJECT, "node_modules/wrangler/bin/wrangler.js");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", WRANGLER_HIDE_BANNER: "true" };
  await promisify(execFile)(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", dir], {
    cwd: PROJECT,
    env,
  });
  return dir;
}

/** Vitest's global setup: one build and one temporary folder serve every test file of a run. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = makeTempDir("holdfast-test");
  process.env["HOLDFAST_TEST_DIR"] = dir;
  // A command that a test runs takes the build of the run.
  process.env["HOLDFAST_WORKER_DIR"] ??= await buildWorker();
  return () => rm(dir, { recursive: true, force: true });
}
