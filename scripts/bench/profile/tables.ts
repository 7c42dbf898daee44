/** A profile as tables. */
import { formatRows } from "../../verify/report.ts";
import { type Frame, type FunctionCost, listFunctions, sumLayers } from "./call-tree.ts";
import { sumThreads, type ThreadTimes } from "./threads.ts";

/** What the load did. */
export interface Work {
  /** One of them: `save`, `clone`. */
  readonly operation: string;
  readonly operations: number;
}

const NUMBERS = [1, 2, 3, 4, 5, 6];

/** Functions: the dearest by themselves, and those of src that lead to the most.
 * @param top rows of each */
export function formatTop(root: Frame, { operation, operations }: Work, top: number): string {
  const heads = ["self ms", "%", "total ms", "%", `self ms/${operation}`, `total ms/${operation}`, "function"];
  const share = (ms: number): string => ((100 * ms) / root.totalMs).toFixed(1);
  const toRow = ({ name, place, selfMs, totalMs }: FunctionCost): string[] => [
    selfMs.toFixed(1),
    share(selfMs),
    totalMs.toFixed(1),
    share(totalMs),
    (selfMs / operations).toFixed(3),
    (totalMs / operations).toFixed(3),
    `${name}${place === "" ? "" : `  ${place}`}`,
  ];
  const functions = listFunctions(root);
  const ours = functions.filter(({ place }) => place.startsWith("src/")).toSorted((a, b) => b.totalMs - a.totalMs);
  const format = (rows: readonly FunctionCost[]): string =>
    formatRows([heads, ...rows.slice(0, top).map(toRow)], [0, 1, 2, 3, 4, 5]);
  return [
    `The dearest functions by themselves (busy ${root.totalMs.toFixed(0)} ms):`,
    format(functions),
    "",
    "The dearest functions of src with all that they call:",
    format(ours),
  ].join("\n");
}

/** Layers, by what runs in them itself. */
export function formatLayers(root: Frame, { operation, operations }: Work): string {
  const rows = [...sumLayers(root)].map(([layer, ms]) => [
    layer,
    ms.toFixed(1),
    ((100 * ms) / root.totalMs).toFixed(1),
    (ms / operations).toFixed(3),
  ]);
  return formatRows([["layer, by itself", "ms", "%", `ms/${operation}`], ...rows], NUMBERS);
}

/** Where the CPU of the process went. */
export interface CpuSplit {
  /** Busy time of each isolate (ms), by its name. */
  readonly isolates: ReadonlyMap<string, number>;
  /** While these were profiled. */
  readonly threads: ThreadTimes;
  /** Of the same load without a profiler, for each operation (ms). */
  readonly plainMs: number;
}

/** The Worker that is profiled, by its isolate's name. */
export const OURS = "core:user:holdfast";

/** The process's CPU by isolate and thread. */
export function formatSplit({ isolates, threads, plainMs }: CpuSplit, { operation, operations }: Work): string {
  const inside = [...isolates].sort((a, b) => b[1] - a[1]);
  const isolatesMs = inside.reduce((sum, [, ms]) => sum + ms, 0);
  const total = sumThreads(threads);
  const rows = [
    ...inside.map(([name, ms]) => [name === OURS ? `Holdfast (${name})` : `Miniflare's ${name}`, ms] as const),
    ["workerd outside of isolates", threads.main - isolatesMs] as const,
    ["V8's helpers (garbage, compiling)", threads.v8] as const,
    // The inspector's.
    ["other threads", threads.others] as const,
    ["together", total] as const,
    ["of the main thread, in the system", threads.mainSystem] as const,
    ["besides, the profiler's threads", threads.profiler] as const,
  ];
  const cells = rows.map(([name, ms]) => [
    name,
    ms.toFixed(0),
    ((100 * ms) / total).toFixed(1),
    (ms / operations).toFixed(3),
  ]);
  const plain = `Without the profiler, the same load took ${plainMs.toFixed(3)} ms/${operation} of CPU.`;
  return `${formatRows([["CPU of the server", "ms", "%", `ms/${operation}`], ...cells], NUMBERS)}\n${plain}`;
}
