/** Where the server's CPU goes under a load. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { PROJECT } from "../../../test/harness/build.ts";
import { findFreePort, type Server, startServer } from "../../../test/harness/server.ts";
import { UsageError } from "../../command-line.ts";
import { count, type Option, text } from "../../options.ts";
import { defineCase } from "../figures/bench.ts";
import { type IsolateProfiles, locateFrames, markIdle, startProfiling } from "./cpu-profile.ts";
import { type Load, LOADS, type Prepare } from "./loads.ts";
import { formatLayers, formatSplit, formatTop, listFunctions, OURS, sumBusy } from "./tables.ts";

const OUT_DIR = ".holdfast/profiles";

const LOAD: Option<keyof typeof LOADS> = {
  form: "NAME",
  help: "one of those (default save)",
  fallback: "save",
  read(_, [name = ""]) {
    if (Object.hasOwn(LOADS, name)) return name as keyof typeof LOADS;
    throw new UsageError(`--load ${name}: not one of ${Object.keys(LOADS).join(", ")}`);
  },
};

export const profile = defineCase({
  summary: "where the server's CPU goes under a load: tables, a profile for Chrome or speedscope",
  about: `By isolate, by layer of src, by function. The load runs three times: a fifth of it as warm-up, once
without the profiler for comparison, once with it. Each includes the server's work in the next 1.5
seconds.

${Object.entries(LOADS)
  .map(([name, { summary, rounds }]) => `  ${name.padEnd(14)}${summary} (${rounds} rounds)`)
  .join("\n")}

Writes LOAD.cpuprofile, which maps functions to their sources. Chrome's DevTools (Performance, Load
profile) and https://speedscope.app show it as a flame graph. Exported functions of the WebAssembly
module have names. (workerd) is time in which workerd holds the isolate and runs no JavaScript,
(program) is V8's own. A function without a source belongs to the runtime, such as SQLite's exec.
The server's CPU outside its isolates is HTTP, calls between isolates, and files. Miniflare's
isolates simulate R2 and Cloudflare's network: a deployed Worker has none of them. The profiler slows the
server down: trust the shares more than the times.`,
  options: {
    load: LOAD,
    rounds: count("rounds of the load (default: as above)", undefined),
    clients: count("clients at once, in all loads but push, small-pushes and clone", 20),
    files: count("files of the repositories of save and save-one", 100),
    bundle: text("FILE", "the history of the other loads: a bundle, or any repository (default: a generated one)"),
    interval: count("microseconds between two samples", 1000),
    top: count("rows of the tables of functions", 30),
    out: text("DIR", `where to write (default ${OUT_DIR}, which git ignores)`),
  },
  async measure({ load: name, interval, top, out, ...values }, { stack }) {
    const load: Load = LOADS[name];
    const port = await findFreePort();
    const limits = JSON.stringify({ quietMs: DEFAULT_LIMITS.quietMs });
    const server = await startServer({ inspectorPort: port, vars: { LIMITS: limits } });
    stack.defer(() => server.close());
    const prepare = await load.open(server.url, values);
    const rounds = values.rounds ?? load.rounds;
    await runPass("warm-up", server, prepare, Math.ceil(rounds / 5));
    const plain = await runPass("without the profiler", server, prepare, rounds);
    let profiles: IsolateProfiles = new Map();
    const { operations } = await runPass("with the profiler", server, prepare, rounds, async () => {
      const stop = await startProfiling(port, interval);
      return async () => void (profiles = await stop());
    });
    const work = { operation: load.operation, operations };
    const marked = new Map([...profiles].map(([isolate, one]) => [isolate, markIdle(one, interval)] as const));
    const located = locateFrames(marked.get(OURS)!, process.env["HOLDFAST_WORKER_DIR"]!, PROJECT);
    const busy = new Map([...marked].map(([isolate, one]) => [isolate, sumBusy(listFunctions(one))]));
    const functions = listFunctions(located);
    const tables = [formatSplit(busy, (plain.cpuSeconds * 1000) / plain.operations, work)];
    tables.push(formatLayers(functions, work), formatTop(functions, work, top));
    process.stdout.write(`${tables.join("\n\n")}\n`);
    const path = join(resolve(out ?? join(PROJECT, OUT_DIR)), `${name}.cpuprofile`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(located));
    process.stderr.write(`written: ${path}\n`);
  },
});

/** Longer than maintenance waits after a push. */
const QUIET_MS = 1_500;
const LOOK_MS = 250;
const LONGEST_WAIT_MS = 60_000;

/** Waits until a server has been idle for a while: maintenance follows each push. */
async function awaitQuiet(server: Server): Promise<void> {
  const deadlineMs = Date.now() + LONGEST_WAIT_MS;
  let quietMs = 0;
  while (quietMs < QUIET_MS && Date.now() < deadlineMs) {
    const before = server.readUsage().cpuSeconds;
    await sleep(LOOK_MS);
    // The system counts CPU in hundredths of a second.
    quietMs = server.readUsage().cpuSeconds - before > 0.015 ? 0 : quietMs + LOOK_MS;
  }
}

/** Runs one pass of a load on a quiet server, including the work that follows at once.
 * @param watch begins to watch, and returns a function that stops it */
async function runPass(
  what: string,
  server: Server,
  prepare: Prepare,
  rounds: number,
  watch: () => Promise<() => Promise<void>> = async () => async () => undefined,
): Promise<{ readonly operations: number; readonly cpuSeconds: number }> {
  process.stderr.write(`${what}: ${rounds} rounds\n`);
  const run = await prepare(rounds);
  await awaitQuiet(server);
  const end = await watch();
  const before = server.readUsage().cpuSeconds;
  const operations = await run();
  await sleep(QUIET_MS);
  const cpuSeconds = server.readUsage().cpuSeconds - before;
  await end();
  return { operations, cpuSeconds };
}
