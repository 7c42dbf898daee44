import { execFile } from "node:child_process";
import { readFile, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { makeTempDir } from "./temp-dir.ts";

/** The project's directory. */
export const PROJECT = join(import.meta.dirname, "../..");

/** File in a built Worker's directory with what `wrangler.toml` declares. */
const OPTIONS = "miniflare-options.json";

/** Builds the Worker exactly as `wrangler deploy` would upload it.
 * @returns the directory with `main.js` and the modules that it imports
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

/** Returns what `wrangler.toml` declares, as options for Miniflare. They are cached beside the
 * built Worker, since loading wrangler takes longer than starting a server.
 * @param dir from `buildWorker` */
export async function readMiniflareOptions(dir: string): Promise<Record<string, unknown>> {
  const file = join(dir, OPTIONS);
  const kept = await readFile(file, "utf8").catch(() => null);
  if (kept !== null) return JSON.parse(kept) as Record<string, unknown>;
  const { unstable_getMiniflareWorkerOptions } = await import("wrangler");
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(PROJECT, "wrangler.toml"));
  await writeFile(file, JSON.stringify(workerOptions));
  return workerOptions as Record<string, unknown>;
}

/** A file system in memory, on Linux. */
export const MEMORY_DISK = "/dev/shm";

/** What must be free there: several times what a run of the project `node` leaves. */
const MEMORY_DISK_BYTES = 4 * 1024 ** 3;

/** Vitest's global setup: one build and one temporary directory for all test files of a run. */
export default async function setup(project?: TestProject): Promise<() => Promise<void>> {
  // Git and SQLite write many small files: in memory they take a tenth less CPU, and no waiting.
  // The other projects write more than memory should hold.
  const isSmall = project?.name === "node" && (await freeBytes(MEMORY_DISK)) >= MEMORY_DISK_BYTES;
  const dir = makeTempDir("holdfast-test", isSmall ? MEMORY_DISK : undefined);
  process.env["HOLDFAST_TEST_DIR"] = dir;
  // Commands that a test runs use the same build.
  await readMiniflareOptions((process.env["HOLDFAST_WORKER_DIR"] ??= await buildWorker()));
  return () => rm(dir, { recursive: true, force: true });
}

/** Free space of a file system; 0: there is none. */
async function freeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize;
}
