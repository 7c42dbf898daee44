import { readFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import * as esbuild from "esbuild";
import { PROJECT } from "../project.ts";

/** A module of the Worker, as the runtime takes it. */
export interface WorkerModule {
  readonly type: "ESModule" | "CompiledWasm";
  /** Below `/`. */
  readonly path: string;
  readonly contents: Uint8Array;
}

/** The Worker, and what it was made of. */
export interface BundledWorker {
  /** The first is the entry point. */
  readonly modules: readonly WorkerModule[];
  /** Every file that would make another Worker if it were another; below the project. */
  readonly inputs: readonly string[];
}

/** What decides about the bundle without being in it: which packages there are, in which releases, and how it is made. */
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
  const files = new Set<string>();
  const { outputFiles, metafile } = await esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: ["src/host/worker.ts"],
    outdir: "/",
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    // The runtime brings these.
    external: ["node:*", "cloudflare:*"],
    plugins: [keepWasm(files)],
    // It is told by throwing.
    logLevel: "silent",
  });
  // Its process would stay, with 100 MB.
  await esbuild.stop();
  const compiled = [...files].map(async (file): Promise<WorkerModule> => {
    return { type: "CompiledWasm", path: `/${basename(file)}`, contents: await readFile(file) };
  });
  const script: WorkerModule = { type: "ESModule", path: "/worker.js", contents: outputFiles[0]!.contents };
  const wasm = [...files].map((file) => relative(PROJECT, file));
  return {
    modules: [script, ...(await Promise.all(compiled))],
    inputs: [...Object.keys(metafile.inputs), ...wasm, ...DECIDING],
  };
}

/** Leaves imports of `.wasm` files as they are, for the runtime to compile.
 * @param files gets their paths */
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
