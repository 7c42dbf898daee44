/** Makes one file of each program that runs beside git, for plain Node, in `helper/dist`: `npm run
 * build:helper`. Each start, each deployment and each run of the tests makes them: the server hands
 * them out. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { PROJECT } from "./project.ts";

/** Where each program begins, in `helper`. */
export const PROGRAMS = { "git-remote-holdfast": "main.ts", "git-lfs-holdfast": "lfs-main.ts" } as const;

/** The names of the programs. */
export type ProgramName = keyof typeof PROGRAMS;

/** The file of a program. CommonJS runs under any name, with any Node. */
export function fileOf(name: ProgramName): string {
  return join(PROJECT, `helper/dist/${name}.cjs`);
}

/** A program made of its sources. */
interface BundledProgram {
  readonly text: string;
  /** Paths in the project. */
  readonly inputs: readonly string[];
}

/** Bundles a program from its sources. */
export async function bundleProgram(name: ProgramName): Promise<BundledProgram> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints: [`helper/${PROGRAMS[name]}`],
    write: false,
    bundle: true,
    metafile: true,
    platform: "node",
    // The oldest that package.json admits.
    target: "node20",
    format: "cjs",
    legalComments: "none",
  });
  return { text: outputFiles[0]!.text, inputs: Object.keys(metafile.inputs) };
}

/** Writes the file of each program.
 * @returns the sources of all: paths in the project */
export async function buildPrograms(): Promise<string[]> {
  const inputs = new Set<string>();
  for (const name of Object.keys(PROGRAMS) as ProgramName[]) {
    const program = await bundleProgram(name);
    for (const input of program.inputs) inputs.add(input);
    writeProgram(fileOf(name), program.text);
  }
  return [...inputs];
}

/** An unchanged file keeps its time, by which others know that it is unchanged. */
function writeProgram(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  if (readIfThere(file) === text) return;
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

if (import.meta.main) await buildPrograms();
