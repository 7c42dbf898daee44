/** Makes one file of each program that runs beside git, for plain Node: `npm run build:helper`. The
 * files are committed: each server hands them out, and the npm package has them. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { PROJECT } from "./project.ts";

/** Where each program begins, in `helper`. */
export const PROGRAMS = { "git-remote-holdfast": "main.ts", "git-lfs-holdfast": "lfs-main.ts" } as const;

/** The names of the programs. */
export type ProgramName = keyof typeof PROGRAMS;

/** The file of a program. CommonJS runs under any name, with any Node. */
export function fileOf(name: ProgramName): string {
  return join(PROJECT, `src/worker/web/assets/${name}.cjs`);
}

/** Bundles a program from its sources. @returns its text */
export async function bundleProgram(name: ProgramName): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [`helper/${PROGRAMS[name]}`],
    write: false,
    bundle: true,
    platform: "node",
    // The oldest that package.json admits.
    target: "node20",
    format: "cjs",
    legalComments: "none",
  });
  return outputFiles[0]!.text;
}

if (import.meta.main) {
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    writeFileSync(fileOf(name), await bundleProgram(name));
    chmodSync(fileOf(name), 0o755);
  }
}
