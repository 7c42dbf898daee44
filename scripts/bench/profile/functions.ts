/** A profile summed up by function. */
import { type CpuProfile, IDLE, type ProfileNode, sumSelf } from "./cpu-profile.ts";

/** A function, and its cost from all callers. */
export interface FunctionCost {
  readonly name: string;
  /** As editors take it: `src/store/refs/refs.ts:12`; empty without a source. */
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
  if (url.endsWith("worker.js")) return "bundler";
  if (name === "(garbage collector)" || name === "(program)") return name;
  return /^src\/([^/]+)\//.exec(url)?.[1] ?? "workerd";
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
