import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import * as esbuild from "esbuild";
import { buildPrograms } from "../build-helper.ts";
import { PROJECT } from "../project.ts";

/** A module of the Worker, in the runtime's form. */
export interface WorkerModule {
  readonly type: "ESModule" | "CompiledWasm";
  /** Below `/`. */
  readonly path: string;
  readonly contents: Uint8Array;
}

/** The Worker, and its inputs. */
export interface BundledWorker {
  /** The first is the entry point. */
  readonly modules: readonly WorkerModule[];
  /** Every file that determines the Worker; paths in the project. */
  readonly inputs: readonly string[];
}

/** Files that determine the bundle without being in it: the packages' releases, and the bundling
 * itself. */
const DECIDING = [
  "package-lock.json",
  "node_modules/.package-lock.json",
  "tsconfig.json",
  relative(PROJECT, import.meta.filename),
];

/** Bundles the Worker from its sources, in memory. `wrangler deploy` does it with the same esbuild,
 * but takes 3 seconds before it begins.
 * @throws Error with esbuild's messages if the sources are wrong */
export async function bundleWorker(): Promise<BundledWorker> {
  const programs = await buildPrograms();
  const files = new Set<string>();
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: ["src/main.ts"],
    outdir: "/",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    // Built into the runtime.
    external: ["node:*", "cloudflare:*"],
    plugins: [keepWasm(files)],
    // Errors are thrown instead.
    logLevel: "silent",
  });
  // Otherwise its process would keep 100 MB.
  await esbuild.stop();
  const compiled = [...files].map(async (file): Promise<WorkerModule> => {
    return { type: "CompiledWasm", path: `/${basename(file)}`, contents: await readFile(file) };
  });
  const script: WorkerModule = { type: "ESModule", path: "/worker.js", contents: outputFiles[0]!.contents };
  const wasm = [...files].map((file) => relative(PROJECT, file));
  return {
    modules: [script, ...(await Promise.all(compiled))],
    inputs: [...Object.keys(metafile.inputs), ...programs, ...wasm, ...DECIDING],
  };
}

/** Leaves imports of `.wasm` files as they are: the runtime compiles them.
 * @param files collects their paths */
function keepWasm(files: Set<string>): esbuild.Plugin {
  return {
    name: "keep-wasm",
    setup: (build) =>
      build.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
        files.add(join(resolveDir, path));
        return { path: `./${basename(path)}`, external: true };
      }),
  };
}
