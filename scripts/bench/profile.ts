/** `scripts/profile`: what the server's CPU goes to under a load. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readCommandLine } from "../command-line.ts";
import { DEFAULT_LIMITS } from "../../src/format/limits.ts";
import setUp, { PROJECT } from "../../test/harness/build.ts";
import { findFreePort, type Server, startServer } from "../../test/harness/server.ts";
import { readCount } from "./figures/command.ts";
import { foldProfile } from "./profile/call-tree.ts";
import { markIdle } from "./profile/cpu-profile.ts";
import { drawFlameGraph } from "./profile/flame-graph.ts";
import { type IsolateProfiles, startProfiling } from "./profile/inspector.ts";
import { type Load, LOADS, type Prepare } from "./profile/loads.ts";
import { locateFrames } from "./profile/sources.ts";
import { type CpuSplit, formatLayers, formatSplit, formatTop, OURS, type Work } from "./profile/tables.ts";
import { readThreads, subtractThreads, sumThreads, type ThreadTimes } from "./profile/threads.ts";

const OUT_DIR = ".holdfast/profiles";

const USAGE = `Usage: scripts/profile LOAD [OPTIONS]

Starts a server as deployed (the bundle that wrangler uploads, on workerd, with Miniflare's R2), keeps it busy with LOAD, and tells what
its CPU goes to: by isolate and thread, by layer of src, by function. The load is done three times: a fifth of it to warm up, once
without the profiler for comparison, once with it. What the server does in the next 1.5 seconds belongs to it.

${Object.entries(LOADS)
  .map(([name, { summary, rounds }]) => `  ${name.padEnd(14)}${summary} (${rounds} rounds)`)
  .join("\n")}

  --rounds N       how much of it
  --clients N      clients at once, in all loads but push, small-pushes and clone (default 20)
  --files N        files of the repositories of save and save-one (default 100)
  --bundle FILE    the history of the other loads: a bundle, or any repository that git can clone (default: one is made up)
  --interval N     microseconds between two samples (default 1000)
  --top N          rows of the tables of functions (default 30)
  --out DIR        where to write (default ${OUT_DIR}, which git ignores)
  --help           this text

Prints the tables, and writes LOAD.svg, a flame graph that shows names, places and times where the mouse points, and
LOAD.cpuprofile, which Chrome's DevTools open (Performance, Load profile).

How to read it: functions have the places of their sources by the bundle's source map. Functions of the WebAssembly module have their
names where they are exported; the others are wasm-function[n], as the deployed module carries no names. (workerd) is time in
which workerd holds the isolate and runs no JavaScript, (program) is V8's own. A function without a place is the runtime's, such as
SQLite's exec; in code that V8 has optimised it may count as part of its caller. What goes on after an await is shown
by itself, not below what waits for it. "workerd outside of isolates" is what the main thread used beyond all isolates: HTTP, calls
between isolates, files. Miniflare's isolates stand in for R2 and for Cloudflare's network: a deployed Worker has none of them.
The profiler slows the server down, and on a busy machine samples also fall where the server waits for its turn: shares are
more to be trusted than times.
`;

/** Longer than housekeeping waits after a push. */
const QUIET_MS = 1_500;
const LOOK_MS = 250;
const LONGEST_WAIT_MS = 60_000;

/** An isolate with no more samples than that in the warm-up does nothing: starting and stopping the profiler gives some. */
const IDLE_SAMPLES = 10;

/** A profiled load. */
interface Measured {
  readonly work: Work;
  readonly profiles: IsolateProfiles;
  readonly threads: ThreadTimes;
  readonly plainMs: number;
}

/** What is watched while a load runs. */
interface Watch<Seen> {
  begin(): Promise<void>;
  end(): Promise<Seen>;
}

/** Waits until a server has done nothing for a while: what was pushed to it is followed by housekeeping. */
async function awaitQuiet(server: Server): Promise<void> {
  const deadlineMs = Date.now() + LONGEST_WAIT_MS;
  let quietMs = 0;
  while (quietMs < QUIET_MS && Date.now() < deadlineMs) {
    const before = server.readUsage().cpuSeconds;
    await sleep(LOOK_MS);
    // The system counts in hundredths of a second.
    quietMs = server.readUsage().cpuSeconds - before > 0.015 ? 0 : quietMs + LOOK_MS;
  }
}

/** Does one pass of a load on a quiet server, with what follows at once. */
async function runPass<Seen>(what: string, server: Server, prepare: Prepare, rounds: number, watch: Watch<Seen>) {
  process.stderr.write(`${what}: ${rounds} rounds\n`);
  const run = await prepare(rounds);
  await awaitQuiet(server);
  await watch.begin();
  const operations = await run();
  await sleep(QUIET_MS);
  return { operations, seen: await watch.end() };
}

/** Watches the CPU of a server's threads. */
function watchThreads(server: Server): Watch<ThreadTimes> {
  let before: ThreadTimes;
  return {
    begin: async () => void (before = readThreads(server.pid)),
    end: async () => subtractThreads(readThreads(server.pid), before),
  };
}

/** Watches isolates with the profiler, and the threads meanwhile. */
function watchIsolates(server: Server, port: number, intervalMicros: number, wanted: (isolate: string) => boolean) {
  const watched = watchThreads(server);
  let stop: Awaited<ReturnType<typeof startProfiling>>;
  return {
    async begin() {
      await watched.begin();
      stop = await startProfiling(port, intervalMicros, wanted);
    },
    async end() {
      // The profiler's threads end with it, and what they used is not told afterwards.
      const threads = await watched.end();
      const profiles = [...(await stop())].map(([name, profile]) => [name, markIdle(profile, intervalMicros)] as const);
      return { threads, profiles: new Map(profiles) };
    },
  } satisfies Watch<unknown>;
}

async function measure(
  server: Server,
  load: Load,
  prepare: Prepare,
  settings: { readonly rounds: number; readonly port: number; readonly intervalMicros: number },
): Promise<Measured> {
  const { rounds, port, intervalMicros } = settings;
  const all = watchIsolates(server, port, intervalMicros, () => true);
  const warmUp = await runPass("warm-up", server, prepare, Math.ceil(rounds / 5), all);
  const isBusy = (isolate: string): boolean =>
    isolate === OURS || (warmUp.seen.profiles.get(isolate)?.samples.length ?? 0) > IDLE_SAMPLES;
  const plain = await runPass("without the profiler", server, prepare, rounds, watchThreads(server));
  const busy = watchIsolates(server, port, intervalMicros, isBusy);
  const { operations, seen } = await runPass("with the profiler", server, prepare, rounds, busy);
  const plainMs = sumThreads(plain.seen) / plain.operations;
  return { work: { operation: load.operation, operations }, ...seen, plainMs };
}

/** Prints the tables and writes the files. */
function report(name: string, { work, profiles, threads, plainMs }: Measured, outDir: string, top: number): void {
  const profile = locateFrames(profiles.get(OURS)!, process.env["HOLDFAST_WORKER_DIR"]!, PROJECT);
  const root = foldProfile(profile);
  const isolates = new Map([...profiles].map(([isolate, each]) => [isolate, foldProfile(each).totalMs]));
  const split: CpuSplit = { isolates, threads, plainMs };
  const splitText = formatSplit(split, work);
  mkdirSync(outDir, { recursive: true });
  const paths = [join(outDir, `${name}.svg`), join(outDir, `${name}.cpuprofile`)] as const;
  const caption = {
    title: `Holdfast, CPU under the load ${name}: ${work.operations} × ${work.operation}`,
    lines: [`The Worker was busy for ${root.totalMs.toFixed(0)} ms; idle time is left out.`, ...splitText.split("\n")],
  };
  writeFileSync(paths[0], drawFlameGraph(root, caption));
  writeFileSync(paths[1], JSON.stringify(profile));
  process.stdout.write(`${[splitText, formatLayers(root, work), formatTop(root, work, top)].join("\n\n")}\n`);
  process.stderr.write(`written: ${paths.map((path) => relative(process.cwd(), path)).join(", ")}\n`);
}

async function main(name: string, load: Load, values: Options): Promise<void> {
  const number = (option: "rounds" | "clients" | "files" | "interval" | "top"): number =>
    readCount(option, values[option] ?? String(load.rounds));
  const settings = { clients: number("clients"), files: number("files"), bundle: values.bundle };
  const [rounds, intervalMicros, top] = [number("rounds"), number("interval"), number("top")];
  const cleanUp = await setUp();
  try {
    const port = await findFreePort();
    const server = await startServer({
      inspectorPort: port,
      vars: { LIMITS: JSON.stringify({ quietMs: DEFAULT_LIMITS.quietMs }) },
    });
    try {
      const prepare = await load.open(server.url, settings);
      const measured = await measure(server, load, prepare, { rounds, port, intervalMicros });
      report(name, measured, resolve(values.out), top);
    } finally {
      await server.close();
    }
  } finally {
    await cleanUp();
  }
}

const OPTIONS = {
  rounds: { type: "string" },
  clients: { type: "string", default: "20" },
  files: { type: "string", default: "100" },
  bundle: { type: "string" },
  interval: { type: "string", default: "1000" },
  top: { type: "string", default: "30" },
  out: { type: "string", default: join(PROJECT, OUT_DIR) },
  help: { type: "boolean", default: false },
} as const;

function readOptions() {
  return readCommandLine({ options: OPTIONS, allowPositionals: true });
}

type Options = ReturnType<typeof readOptions>["values"];

// Whatever ends it, what removes temporary folders runs, and workerd ends with its parent.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

try {
  const { values, positionals } = readOptions();
  const [name = "", ...further] = positionals;
  const load = Object.hasOwn(LOADS, name) ? LOADS[name] : undefined;
  if (values.help) {
    process.stdout.write(USAGE);
  } else if (load === undefined || further.length > 0) {
    process.stderr.write(`scripts/profile: name one load: ${Object.keys(LOADS).join(", ")} (--help tells more)\n`);
    process.exitCode = 2;
  } else {
    await main(name, load, values);
  }
} catch (error) {
  process.stderr.write(`scripts/profile: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
