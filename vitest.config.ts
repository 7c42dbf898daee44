import { availableParallelism } from "node:os";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import type { Plugin } from "vite";

// Neither the tests nor the tools they start reach beyond this machine.
process.env["WRANGLER_SEND_METRICS"] = "false";
process.env["CLOUDFLARE_CF_FETCH_ENABLED"] = "false";

const WORKERS = "test/**/*.workers.test.ts";
const LARGE = "test/large/**/*.test.ts";
const SWEEPS = ["test/**/*.sweep.test.ts", "test/e2e/memory-under-load.test.ts"];
const COMMANDS = "test/scripts/**/*.command.test.ts";

/** In Node, as in the runtime, importing a `.wasm` file gives its compiled module. */
const wasmModules: Plugin = {
  name: "wasm-modules",
  enforce: "pre",
  load(id) {
    if (!id.endsWith(".wasm")) return undefined;
    return `import { readFileSync } from "node:fs";
      export default new WebAssembly.Module(readFileSync(${JSON.stringify(id)}));`;
  },
};

/** What the tests run on has much code: it is compiled once, not by every worker. */
process.env["NODE_COMPILE_CACHE"] ??= new URL("node_modules/.cache/compiled", import.meta.url).pathname;

/** Of every project that runs in Node. */
const IN_NODE = {
  globalSetup: "test/harness/build.ts",
  setupFiles: "test/harness/read-at-least.ts",
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

export default defineConfig({
  test: {
    // Half as many again as there are cores: the tests wait for git, for the runtime and for what takes its time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    reporters: ["default", "./test/harness/closing-line.ts"],
    projects: [
      {
        // Pure code, and real git against the real Worker.
        plugins: [wasmModules],
        test: {
          name: "node",
          include: ["test/**/*.test.ts"],
          exclude: [WORKERS, LARGE, COMMANDS, ...SWEEPS],
          // A file that starts in a worker of its own spends a second on loading what the one before has loaded.
          isolate: false,
          ...IN_NODE,
        },
      },
      {
        // The same code on many seeds, sizes and positions, of which `npm test` tries a few: `npm run test:sweep`.
        plugins: [wasmModules],
        test: { name: "sweep", include: SWEEPS, ...IN_NODE },
      },
      {
        // Code which needs a Durable Object's storage or R2 at hand: runs inside the runtime.
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: { name: "workers", include: [WORKERS], exclude: [LARGE], testTimeout: 60_000 },
      },
      {
        // Benchmarks and load scripts, run in small as a user runs them: `npm run test:commands`.
        test: {
          name: "commands",
          include: [COMMANDS],
          globalSetup: "test/harness/build.ts",
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Large histories, memory and speed, beside native git: `npm run test:large`.
        plugins: [wasmModules],
        test: {
          name: "large",
          include: [LARGE],
          globalSetup: "test/harness/build.ts",
          setupFiles: "test/harness/read-at-least.ts",
          fileParallelism: false,
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
