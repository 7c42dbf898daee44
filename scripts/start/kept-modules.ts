/** Caches the bundle, so that an unchanged tree is not bundled again. That saves half a second of a
 * start.
 *
 * One file holds all: a line of JSON, `Kept`, then the modules' bytes, concatenated. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BundledWorker, WorkerModule } from "./bundle.ts";

/** The version of the file's format. */
const FORMAT = 1;

/** How far the time of a change may lie before the change: file systems count in steps, of 10 ms on
 * Linux, of 2 s at worst. */
const FILE_TIME_STEP_MS = 2_000;

interface Kept {
  readonly format: number;
  /** SHA-256 of every input file, by its path in the project. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly modules: readonly { readonly type: WorkerModule["type"]; readonly path: string; readonly size: number }[];
  /** SHA-256 of the modules' bytes. */
  readonly digest: string;
}

/** Returns the cached modules if all their inputs are unchanged; otherwise bundles them and caches
 * the result. A cache that cannot be read or written counts as missing.
 * @param project the inputs' paths are relative to it
 * @throws what `bundle` throws */
export async function keepModules(
  file: string,
  project: string,
  bundle: () => Promise<BundledWorker>,
): Promise<readonly WorkerModule[]> {
  const kept = readKept(file, project);
  if (kept !== null) return kept;
  const startMs = Date.now() - FILE_TIME_STEP_MS;
  const { modules, inputs } = await bundle();
  // Otherwise an input that changed after it was read would be cached with the wrong hash.
  if (inputs.every((path) => isOlder(join(project, path), startMs))) writeKept(file, project, modules, inputs);
  return modules;
}

function readKept(file: string, project: string): WorkerModule[] | null {
  try {
    const content = readFileSync(file);
    const headSize = content.indexOf("\n") + 1;
    const kept = JSON.parse(content.toString("utf8", 0, headSize)) as Kept;
    if (kept.format !== FORMAT || kept.digest !== hash(content.subarray(headSize))) return null;
    for (const [path, digest] of Object.entries(kept.inputs))
      if (hash(readFileSync(join(project, path))) !== digest) return null;
    let at = headSize;
    return kept.modules.map(({ type, path, size }) => ({ type, path, contents: content.subarray(at, (at += size)) }));
  } catch {
    // Missing, damaged, or an input is gone.
    return null;
  }
}

function isOlder(file: string, timeMs: number): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? timeMs) < timeMs;
}

function writeKept(file: string, project: string, modules: readonly WorkerModule[], inputs: readonly string[]): void {
  const written = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch {
    // The folder belongs to another user: the next start bundles again.
    return;
  }
  try {
    const bytes = Buffer.concat(modules.map(({ contents }) => contents));
    const kept: Kept = {
      format: FORMAT,
      inputs: Object.fromEntries(inputs.map((path) => [path, hash(readFileSync(join(project, path)))])),
      modules: modules.map(({ type, path, contents }) => ({ type, path, size: contents.length })),
      digest: hash(bytes),
    };
    writeFileSync(written, Buffer.concat([Buffer.from(`${JSON.stringify(kept)}\n`), bytes]));
    renameSync(written, file);
  } catch {
    // For example a full disk, or a folder of another user.
    rmSync(written, { force: true });
  }
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
