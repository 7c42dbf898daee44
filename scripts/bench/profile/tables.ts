/** A profile summed up by function, and as tables. */
import { formatRows } from "../figures/table.ts";
import { type CpuProfile, IDLE, type ProfileNode, sumSelf } from "./cpu-profile.ts";

/** A function, and its cost from all callers. */
interface FunctionCost {
  readonly name: string;
  /** As editors take it: `src/object/store/refs/refs.ts:12`; empty without a source. */
  readonly place: string;
  /** A folder of src, or the kind of foreign code. `workerd` is the runtime: C++, or its own
   * JavaScript. */
  readonly layer: string;
  selfMs: number;
  /** Including the functions that it called. Recursive calls count once. */
  totalMs: number;
}

function describe({ callFrame: { functionName, url, lineNumber } }: ProfileNode): FunctionCost {
  const name = functionName === "" ? "(anonymous)" : functionName;
  const place = url === "" ? "" : url.startsWith("wasm:") ? "wasm" : `${url}:${lineNumber + 1}`;
  return { name, place, layer: findLayer(name, url), selfMs: 0, totalMs: 0 };
}

function findLayer(name: string, url: string): string {
  if (url.startsWith("wasm:")) return "wasm";
  if (url.includes("node_modules/")) return "node_modules";
  // The bundler's helper functions, which have no source.
  if (url.endsWith("main.js")) return "bundler";
  if (name === "(garbage collector)" || name === "(program)") return name;
  return /^src\/(\w+(?:\/[\w-]+)?)\//.exec(url)?.[1] ?? "workerd";
}

/** Sums up a profile's samples by function, sorted by own time, the most expensive first. Idle time
 * is left out. */
export function listFunctions(profile: CpuProfile): FunctionCost[] {
  const selfMs = sumSelf(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const costs = new Map<string, FunctionCost>();
  const visit = (id: number, above: ReadonlySet<string>): number => {
    const node = nodes.get(id)!;
    if (node.callFrame.functionName === IDLE) return 0;
    const described = describe(node);
    const key = `${described.name}\n${described.place}`;
    const inside = new Set(above).add(key);
    const own = selfMs.get(id) ?? 0;
    const totalMs = (node.children ?? []).reduce((sum, child) => sum + visit(child, inside), own);
    const cost = costs.get(key) ?? described;
    costs.set(key, cost);
    cost.selfMs += own;
    if (!above.has(key)) cost.totalMs += totalMs;
    return totalMs;
  };
  for (const id of profile.nodes[0]!.children ?? []) visit(id, new Set());
  return [...costs.values()]
    .filter(({ totalMs }) => totalMs > 0)
    .sort((a, b) => b.selfMs - a.selfMs || (`${a.name}\n${a.place}` < `${b.name}\n${b.place}` ? -1 : 1));
}

/** How long an isolate was busy (ms). */
export function sumBusy(functions: readonly FunctionCost[]): number {
  return functions.reduce((sum, { selfMs }) => sum + selfMs, 0);
}

/** Sums up the own time of each layer (ms), the most expensive first. */
export function sumLayers(functions: readonly FunctionCost[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { layer, selfMs } of functions) sums.set(layer, (sums.get(layer) ?? 0) + selfMs);
  return new Map([...sums].sort((a, b) => b[1] - a[1]));
}

/** What the load did. */
interface Work {
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
