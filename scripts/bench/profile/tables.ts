/** A profile as tables. */
import { formatRows } from "../../verify/report.ts";
import { type FunctionCost, sumBusy, sumLayers } from "./functions.ts";

/** What the load did. */
export interface Work {
  /** The name of one operation: `save`, `clone`. */
  readonly operation: string;
  readonly operations: number;
}

/** A line for each name: ms, its share of the sum, and ms per operation. */
function formatShares(
  head: string,
  shares: Iterable<readonly [string, number]>,
  { operation, operations }: Work,
): string {
  const all = [...shares];
  const total = all.reduce((sum, [, ms]) => sum + ms, 0);
  const rows = all.map(([name, ms]) => [
    name,
    ms.toFixed(1),
    ((100 * ms) / total).toFixed(1),
    (ms / operations).toFixed(3),
  ]);
  return formatRows([[head, "ms", "%", `ms/${operation}`], ...rows], [1, 2, 3]);
}

/** Layers by own time. */
export function formatLayers(functions: readonly FunctionCost[], work: Work): string {
  return formatShares("layer, by itself", sumLayers(functions), work);
}

/** The isolate's name of the profiled Worker. */
export const OURS = "core:user:holdfast";

/** The isolates, the busiest first.
 * @param isolates busy time of each (ms), by its name
 * @param plainMs CPU of the whole process per operation, without the profiler */
export function formatSplit(isolates: ReadonlyMap<string, number>, plainMs: number, work: Work): string {
  const inside = [...isolates]
    // Starting and stopping the profiler takes some time in each.
    .filter(([, ms]) => ms > 2)
    .sort((a, b) => b[1] - a[1])
    .map(([name, ms]) => [name === OURS ? `Holdfast (${name})` : `Miniflare's ${name}`, ms] as const);
  return [
    formatShares("busy isolates", inside, work),
    `The whole server, unprofiled, took ${plainMs.toFixed(3)} ms/${work.operation} of CPU.`,
  ].join("\n");
}

/** The functions with the most own time, and those of src with the most time in all.
 * @param top rows of each */
export function formatTop(functions: readonly FunctionCost[], { operation, operations }: Work, top: number): string {
  const busyMs = sumBusy(functions);
  const heads = ["self ms", "%", "total ms", "%", `self ms/${operation}`, `total ms/${operation}`, "function"];
  const share = (ms: number): string => ((100 * ms) / busyMs).toFixed(1);
  const toRow = ({ name, place, selfMs, totalMs }: FunctionCost): string[] => [
    selfMs.toFixed(1),
    share(selfMs),
    totalMs.toFixed(1),
    share(totalMs),
    (selfMs / operations).toFixed(3),
    (totalMs / operations).toFixed(3),
    `${name}${place === "" ? "" : `  ${place}`}`,
  ];
  const ours = functions.filter(({ place }) => place.startsWith("src/")).toSorted((a, b) => b.totalMs - a.totalMs);
  const format = (rows: readonly FunctionCost[]): string =>
    formatRows([heads, ...rows.slice(0, top).map(toRow)], [0, 1, 2, 3, 4, 5]);
  return [
    `The functions with the most own time (busy ${busyMs.toFixed(0)} ms):`,
    format(functions),
    "",
    "The functions of src with the most time, including their calls:",
    format(ours),
  ].join("\n");
}
