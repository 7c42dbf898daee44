import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeTempDir } from "./temp-dir.ts";

/** The project's folder. */
export const PROJECT = join(import.meta.dirname, "../..");

/** What `wrangler.toml` declares, in a built Worker's folder. */
const OPTIONS = "miniflare-options.json";

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

/** Reads what `wrangler.toml` declares, as Miniflare takes it. It is kept beside the Worker that was built of it:
 * to load wrangler takes longer than to start a server.
 * @param dir what `buildWorker` returned */
export async function readMiniflareOptions(dir: string): Promise<Record<string, unknown>> {
  const file = join(dir, OPTIONS);
  const kept = await readFile(file, "utf8").catch(() => null);
  if (kept !== null) return JSON.parse(kept) as Record<string, unknown>;
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(PROJECT, "wrangler.toml"));
  await writeFile(file, JSON.stringify(workerOptions));
  return workerOptions as Record<string, unknown>;
}

/** Vitest's global setup: one build and one temporary folder serve every test file of a run. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = makeTempDir("holdfast-test");
  process.env["HOLDFAST_TEST_DIR"] = dir;
  // A command that a test runs takes the build of the run.
  await readMiniflareOptions((process.env["HOLDFAST_WORKER_DIR"] ??= await buildWorker()));
  return () => rm(dir, { recursive: true, force: true });
}
