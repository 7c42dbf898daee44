import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";
import { buildPrograms } from "./scripts/build-helper.ts";
import { RuntimeFirst } from "./test/harness/runtime-first.ts";

// Tests, and the tools that they start, must not access the network beyond this machine.
process.env["WRANGLER_SEND_METRICS"] = "false";
process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";

const WORKERS = "test/**/*.workers.test.ts";
const LARGE = "test/large/**/*.test.ts";
const SWEEPS = ["test/**/*.sweep.test.ts", "test/e2e/memory-under-load.test.ts"];
const LFS = "test/lfs/**/*.test.ts";
const COMMANDS = "test/scripts/**/*.command.test.ts";

/** In Node, as in the runtime, importing a `.wasm` file yields its compiled module. */
const wasmModules: Plugin = {
  name: "wasm-modules",
  enforce: "pre",
  load(id) {
    if (!id.endsWith(".wasm")) return undefined;
    return `import { readFileSync } from "node:fs";
      export default new WebAssembly.Module(readFileSync(${JSON.stringify(id)}));`;
  },
};

// The Worker hands them out.
await buildPrograms();

/** The project's folder, without a slash at its end. */
const PROJECT = new URL(".", import.meta.url).pathname.slice(0, -1);

/** A module's file: Vite's cache of modules has ids that begin at the project's folder. */
const toFile = (id: string): string => (id.startsWith(`${PROJECT}/`) ? id : PROJECT + id);

/** Style sheet, script and programs are imported as their texts, as esbuild does for `with { type:
 * "text" }`. The suffix keeps Vite's own handling of such files away. */
const textModules: Plugin = {
  name: "text-modules",
  enforce: "pre",
  resolveId(source, importer) {
    const isText = /\.(?:css|c?js)$/.test(source) && importer?.includes("/src/worker/web/assets/") === true;
    return isText ? `${join(dirname(toFile(importer)), source)}.text` : undefined;
  },
  load(id) {
    if (!id.endsWith(".text")) return undefined;
    return `export default ${JSON.stringify(readFileSync(toFile(id.slice(0, -".text".length)), "utf8"))};`;
  },
};

/** The test tools are large: their code is compiled once and cached, not by every worker. */
process.env["NODE_COMPILE_CACHE"] ??= new URL("node_modules/.cache/compiled", import.meta.url).pathname;

/** Far above what any test takes on an idle machine: these end what hangs, and measure nothing. */
const LIMITS = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 60_000 } } };

/** Shared by all projects that run in Node. */
const IN_NODE = { globalSetup: "test/harness/build.ts", setupFiles: "test/harness/read-at-least.ts", ...LIMITS };

export default defineConfig({
  test: {
    // More than there are cores, since tests spend time waiting for git and for the runtime.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: RuntimeFirst },
    reporters: ["default", "./test/harness/closing-line.ts"],
    tags: [
      {
        name: "sweep",
        description: "Many cases, sizes or kills, or seconds of one case: `npm run test:sweep`, not `npm test`.",
      },
    ],
    projects: [
      {
        // Unit tests, and real git against the real Worker.
        plugins: [wasmModules, textModules],
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: [WORKERS, LARGE, LFS, COMMANDS, ...SWEEPS],
          // In a worker of its own, each file would load everything again, which takes a second.
          isolate: false,
          // A worker that goes through many files keeps much: fewer, longer collections cost less.
          // All cores are busy: threads that help a collection take more CPU than they save time.
          execArgv: ["--min-semi-space-size=64", "--max-semi-space-size=64", "--single-threaded-gc"],
          ...IN_NODE,
        },
      },
      {
        // Many seeds, sizes and positions, of which `npm test` tries a few: `npm run test:sweep`.
        plugins: [wasmModules, textModules],
        test: { name: "sweep", include: SWEEPS, ...IN_NODE },
      },
      {
        // Code that needs a Durable Object's storage or R2: runs inside the runtime.
        plugins: [textModules, cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: { name: "workers", include: [WORKERS], exclude: [LARGE], isolate: false, ...LIMITS },
      },
      {
        // Benchmarks and load scripts on a small scale: `npm run test:commands`.
        test: {
          name: "commands",
          include: [COMMANDS],
          globalSetup: "test/harness/build.ts",
          ...LIMITS,
        },
      },
      {
        // The real client of Git LFS, and an S3 server: Go builds them in hooks, which takes
        // minutes.
        plugins: [wasmModules, textModules],
        test: { name: "lfs", include: [LFS], ...IN_NODE, hookTimeout: 1_200_000 },
      },
      {
        // Large histories, memory and speed, beside native git: `npm run test:large`.
        plugins: [wasmModules, textModules],
        test: {
          name: "large",
          include: [LARGE],
          fileParallelism: false,
          ...IN_NODE,
          testTimeout: 1_800_000,
        },
      },
    ],
  },
});
