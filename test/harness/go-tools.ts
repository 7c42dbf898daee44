import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { PROJECT } from "./build.ts";

/** Builds programs that npm does not bring, by Go from their sources, once until the next `npm ci`.
 * @param name of what they belong to
 * @param packages paths of the programs, all of one module
 * @returns the folder that they are in
 * @throws Error that says what is missing */
export async function buildGoTools(name: string, version: string, packages: readonly string[]): Promise<string> {
  const cache = join(PROJECT, "node_modules/.cache");
  const dir = join(cache, `${name}-${version}`);
  if (existsSync(dir)) return dir;
  await mkdir(cache, { recursive: true });
  const building = await mkdtemp(`${dir}-`);
  await promisify(execFile)("go", ["install", ...packages.map((path) => `${path}@${version}`)], {
    env: { ...process.env, GOBIN: building },
  }).catch((cause: unknown) => {
    throw new Error(`${name} cannot be built: Go must be on the PATH, and reach its modules`, { cause });
  });
  // Renamed into place as a whole. Whoever comes second discards its copy.
  await rename(building, dir).catch(() => rm(building, { recursive: true }));
  return dir;
}
