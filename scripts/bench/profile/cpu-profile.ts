/** CPU profiles as V8 takes them and Chrome's DevTools open them (`.cpuprofile`).
 * @see https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#type-Profile */
import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import { Inspector, listTargets, type Target } from "../../../test/harness/inspector.ts";

/** Where a function begins; line and column count from 0. */
interface CallFrame {
  readonly functionName: string;
  readonly scriptId: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A function as called from another. */
export interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

/** A profile, with times in microseconds. */
export interface CpuProfile {
  /** The first is the root. */
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly endTime: number;
  /** Ids of nodes. */
  readonly samples: readonly number[];
  /** The time between each sample and the one before it; for the first, since `startTime`. */
  readonly timeDeltas: readonly number[];
}

/** V8's name for the time in which an isolate does nothing. */
export const IDLE = "(idle)";

/** The name that {@link markIdle} gives to the time in which workerd holds an isolate and runs
 * nothing in it. V8 calls this idle, too. */
const HELD = "(workerd)";

/** The time between two consecutive samples (microseconds). It exceeds the requested interval by
 * the slack of the system's timer and the time to take a sample. */
function findPeriod(profile: CpuProfile, intervalMicros: number): number {
  const deltas = profile.timeDeltas.slice(1).filter((delta) => delta > 0 && delta < 2 * intervalMicros);
  return deltas.toSorted((a, b) => a - b)[Math.floor(deltas.length / 2)] ?? intervalMicros;
}

/** Separates an isolate's busy time from its idle time. V8 takes no sample while no thread is
 * inside the isolate. In its own profile the sample before a pause therefore lasts until the next
 * one. Here it lasts as long as any other, and an idle sample follows.
 * @param intervalMicros the interval that the profiler was asked for */
export function markIdle(profile: CpuProfile, intervalMicros: number): CpuProfile {
  const period = findPeriod(profile, intervalMicros);
  const idleId = 1 + Math.max(...profile.nodes.map(({ id }) => id));
  const samples: number[] = [];
  const timeDeltas: number[] = [];
  let sinceLast = 0;
  profile.samples.forEach((id, i) => {
    samples.push(id);
    timeDeltas.push(sinceLast + profile.timeDeltas[i]!);
    sinceLast = 0;
    const next = profile.timeDeltas[i + 1];
    if (next !== undefined && next <= 2 * period) return;
    samples.push(idleId);
    timeDeltas.push(period);
    // The next sample's delta counts from the idle one.
    sinceLast = -period;
  });
  const [root, ...others] = profile.nodes.map((node) =>
    node.callFrame.functionName === IDLE ? { ...node, callFrame: { ...node.callFrame, functionName: HELD } } : node,
  );
  const nodes = [
    { ...root!, children: [...(root!.children ?? []), idleId] },
    ...others,
    { id: idleId, callFrame: { ...root!.callFrame, functionName: IDLE } },
  ];
  const lastTime = profile.startTime + timeDeltas.reduce((sum, delta) => sum + delta, 0);
  return { nodes, startTime: profile.startTime, endTime: Math.max(profile.endTime, lastTime), samples, timeDeltas };
}

/** The time that each node was at the top of the stack (ms), by its id. Each sample lasts until the
 * next one. */
export function sumSelf(profile: CpuProfile): Map<number, number> {
  const sums = new Map<number, number>();
  let left = profile.endTime - profile.startTime;
  profile.samples.forEach((id, i) => {
    left -= profile.timeDeltas[i]!;
    const lasts = profile.timeDeltas[i + 1] ?? left;
    sums.set(id, (sums.get(id) ?? 0) + lasts / 1_000);
  });
  return sums;
}

/** A profile of each isolate, by the isolate's name. */
export type IsolateProfiles = ReadonlyMap<string, CpuProfile>;

/** Profiles the isolates behind an inspector.
 * @param intervalMicros between two samples
 * @returns stops profiling and gives the profiles
 * @throws Error if the inspector does not answer */
export async function startProfiling(port: number, intervalMicros: number): Promise<() => Promise<IsolateProfiles>> {
  const targets = await listTargets(port);
  const connect = async ({ id, webSocketDebuggerUrl }: Target): Promise<[string, Inspector]> => [
    id,
    await Inspector.connect(webSocketDebuggerUrl),
  ];
  const inspectors = await Promise.all(targets.map(connect));
  for (const [, inspector] of inspectors) {
    await inspector.call("Profiler.enable");
    await inspector.call("Profiler.setSamplingInterval", { interval: intervalMicros });
    await inspector.call("Profiler.start");
  }
  return async () => {
    const profiles = new Map<string, CpuProfile>();
    for (const [isolate, inspector] of inspectors) {
      const { profile } = (await inspector.call("Profiler.stop")) as { profile: CpuProfile };
      profiles.set(isolate, profile);
      inspector.close();
    }
    return profiles;
  };
}

/** Gives each function of a profile its place in the source, and the exported functions of the
 * WebAssembly module their names. The deployed module has no other names.
 * @param buildDir output of `wrangler deploy --outdir`: the Worker, its source map, its module
 * @param projectDir places are relative to it */
export function locateFrames(profile: CpuProfile, buildDir: string, projectDir: string): CpuProfile {
  const map = new SourceMap(JSON.parse(readFileSync(join(buildDir, "main.js.map"), "utf8")) as never);
  const module = readdirSync(buildDir).find((name) => name.endsWith(".wasm"));
  const exports = module === undefined ? new Map<number, string>() : listExports(readFileSync(join(buildDir, module)));
  const locate = (frame: CallFrame): CallFrame => {
    if (frame.url.startsWith("wasm:")) return nameExport(frame, exports);
    if (!frame.url.endsWith("main.js") || frame.lineNumber < 0) return frame;
    const entry = map.findEntry(frame.lineNumber, frame.columnNumber);
    if (!("originalSource" in entry)) return frame;
    const url = relative(projectDir, resolve(buildDir, entry.originalSource));
    return { ...frame, url, lineNumber: entry.originalLine, columnNumber: entry.originalColumn };
  };
  return { ...profile, nodes: profile.nodes.map((node) => ({ ...node, callFrame: locate(node.callFrame) })) };
}

function nameExport(frame: CallFrame, exports: ReadonlyMap<number, string>): CallFrame {
  const index = /^wasm-function\[(\d+)\]$/.exec(frame.functionName)?.[1];
  const functionName = exports.get(Number(index)) ?? frame.functionName;
  return { ...frame, functionName };
}

const HEADER_BYTES = 8;
const EXPORT_SECTION = 7;
const FUNCTION_KIND = 0;

/** Lists the exported functions of a module: index to name.
 * @param bytes a valid module
 * @see https://webassembly.github.io/spec/core/binary/modules.html#export-section */
export function listExports(bytes: Uint8Array): Map<number, string> {
  const names = new Map<number, string>();
  let at = HEADER_BYTES;
  const readNumber = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = readNumber() + at;
    if (section === EXPORT_SECTION) {
      for (let count = readNumber(); count > 0; count--) {
        const length = readNumber();
        const name = new TextDecoder().decode(bytes.subarray(at, (at += length)));
        const kind = bytes[at++];
        const index = readNumber();
        if (kind === FUNCTION_KIND) names.set(index, name);
      }
    }
    at = end;
  }
  return names;
}
