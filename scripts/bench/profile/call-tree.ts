/** A profile as a tree of calls. */
import { type CallFrame, type CpuProfile, IDLE, sumSelf } from "./cpu-profile.ts";

/** What runs: a folder of src, or something that is not ours. `workerd` is the runtime's: in C++, or JavaScript that it brings. */
export const LAYERS = [
  "format",
  "codec",
  "access",
  "store",
  "repository",
  "protocol",
  "rest",
  "web",
  "host",
  "wasm",
  "node_modules",
  "bundler",
  "workerd",
  "(garbage collector)",
  "(program)",
] as const;

export type Layer = (typeof LAYERS)[number];

/** A function that runs, and where it is. */
export interface CalledFunction {
  readonly name: string;
  /** As an editor takes it: `src/store/refs/refs.ts:12`; empty for what has no source. */
  readonly place: string;
  readonly layer: Layer;
}

/** A function as called by the frames above it. */
export interface Frame extends CalledFunction {
  /** In the function itself. */
  readonly selfMs: number;
  /** In what it called, too. */
  readonly totalMs: number;
  /** In the order of names and places. */
  readonly children: readonly Frame[];
}

/** What a function came to, from wherever it was called. */
export interface FunctionCost extends CalledFunction {
  readonly selfMs: number;
  /** With what it called. Where it called itself, once. */
  readonly totalMs: number;
}

/** What a frame of a profile stands for. */
export function describeFunction({ functionName, url, lineNumber }: CallFrame): CalledFunction {
  const name = functionName === "" ? "(anonymous)" : functionName;
  const place = url === "" ? "" : url.startsWith("wasm:") ? "wasm" : `${url}:${lineNumber + 1}`;
  return { name, place, layer: findLayer(name, url) };
}

function findLayer(name: string, url: string): Layer {
  const folder = /^src\/([^/]+)\//.exec(url)?.[1];
  if (url.startsWith("wasm:")) return "wasm";
  if (url.includes("node_modules/")) return "node_modules";
  // What the bundler adds to help what it has changed, and has no source.
  if (url.endsWith("worker.js")) return "bundler";
  const layer = LAYERS.find((one) => one === folder || one === name);
  return layer ?? "workerd";
}

/** Adds up what the samples of a profile came to; what is idle is left out.
 * @returns the root, whose total is the time in which the isolate was busy */
export function foldProfile(profile: CpuProfile): Frame {
  const selfMs = sumSelf(profile);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const fold = (ids: readonly number[], called: CalledFunction): Frame => {
    const callees = new Map<string, { ids: number[]; called: CalledFunction }>();
    for (const id of ids.flatMap((each) => nodes.get(each)?.children ?? [])) {
      const { callFrame } = nodes.get(id)!;
      if (callFrame.functionName === IDLE) continue;
      const callee = describeFunction(callFrame);
      const key = keyOf(callee);
      const known = callees.get(key);
      if (known === undefined) callees.set(key, { ids: [id], called: callee });
      else known.ids.push(id);
    }
    const children = [...callees]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, callee]) => fold(callee.ids, callee.called))
      .filter(({ totalMs }) => totalMs > 0);
    const self = ids.reduce((sum, id) => sum + (selfMs.get(id) ?? 0), 0);
    const total = children.reduce((sum, { totalMs }) => sum + totalMs, self);
    return { ...called, selfMs: self, totalMs: total, children };
  };
  return fold([profile.nodes[0]!.id], { name: "(all)", place: "", layer: "(program)" });
}

function keyOf({ name, place }: CalledFunction): string {
  return `${name}\n${place}`;
}

/** Adds up each function of a tree, the dearest by itself first. The root is none. */
export function listFunctions(root: Frame): FunctionCost[] {
  const costs = new Map<string, { called: CalledFunction; selfMs: number; totalMs: number }>();
  const visit = (frame: Frame, above: ReadonlySet<string>): void => {
    const key = keyOf(frame);
    const { name, place, layer, selfMs, totalMs } = frame;
    const cost = costs.get(key) ?? { called: { name, place, layer }, selfMs: 0, totalMs: 0 };
    cost.selfMs += selfMs;
    if (!above.has(key)) cost.totalMs += totalMs;
    costs.set(key, cost);
    const inside = new Set(above).add(key);
    for (const child of frame.children) visit(child, inside);
  };
  for (const child of root.children) visit(child, new Set());
  return [...costs.values()]
    .map(({ called, selfMs, totalMs }) => ({ ...called, selfMs, totalMs }))
    .sort((a, b) => b.selfMs - a.selfMs || (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Adds up the layers of a tree by what runs in them itself (ms), the dearest first. */
export function sumLayers(root: Frame): Map<Layer, number> {
  const sums = new Map<Layer, number>();
  for (const { layer, selfMs } of listFunctions(root)) sums.set(layer, (sums.get(layer) ?? 0) + selfMs);
  return new Map([...sums].sort((a, b) => b[1] - a[1]));
}
