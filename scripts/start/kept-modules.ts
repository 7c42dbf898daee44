/** Keeps what was bundled, so that a tree in which nothing changed is not bundled again: that takes half
 * a second of a start.
 *
 * One file has it all: a line of JSON, `Kept`, then the modules' bytes, end to end. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BundledWorker, WorkerModule } from "./bundle.ts";

/** How the file is written; another number is another way. */
const FORMAT = 1;

interface Kept {
  readonly format: number;
  /** SHA-256 of every file that it was made of, by its path in the project. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly modules: readonly { readonly type: WorkerModule["type"]; readonly path: string; readonly size: number }[];
  /** SHA-256 of the modules' bytes. */
  readonly digest: string;
}

/** Gives the modules that a file keeps, if all that they were made of is as it was; else has them made,
 * and keeps them.
 * @param project what the inputs' paths begin from
 * @throws what `bundle` throws; a file that cannot be read or written is none */
export async function keepModules(
  file: string,
  project: string,
  bundle: () => Promise<BundledWorker>,
): Promise<readonly WorkerModule[]> {
  const kept = readKept(file, project);
  if (kept !== null) return kept;
  const startMs = Date.now();
  const { modules, inputs } = await bundle();
  // Else a file that was changed after it was read would be taken for the one that was.
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
    // Not there, damaged, or made of a file that has gone.
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
    // A folder that is not this user's: the next start bundles again.
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
    // As well a full disk, or a folder that is not this user's.
    rmSync(written, { force: true });
  }
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
