import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as esbuild from "esbuild";
import { PROJECT } from "../project.ts";

/** A module of the Worker, as the runtime takes it. */
export interface WorkerModule {
  readonly type: "ESModule" | "CompiledWasm";
  /** Below `/`. */
  readonly path: string;
  readonly contents: Uint8Array;
}

/** Bundles the Worker from its sources, in memory; the first module is the entry point. `wrangler deploy` does it with the same esbuild,
 * but takes 3 seconds before it begins.
 * @throws Error with esbuild's messages if the sources are wrong */
export async function bundleWorker(): Promise<WorkerModule[]> {
  const files = new Set<string>();
  const { outputFiles } = await esbuild.build({
    absWorkingDir: PROJECT,
    entryPoints: ["src/host/worker.ts"],
    outdir: "/",
    bundle: true,
    write: false,
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
  return [
    { type: "ESModule", path: "/worker.js", contents: outputFiles[0]!.contents },
    ...(await Promise.all(compiled)),
  ];
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
