/** Maps the functions of a deployed build to their sources. */
import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import type { CallFrame, CpuProfile } from "./cpu-profile.ts";
import { listExports } from "./wasm-exports.ts";

/** Gives each function of a profile its place in the source, and the exported functions of the
 * WebAssembly module their names. The deployed module has no other names.
 * @param buildDir output of `wrangler deploy --outdir`: the Worker, its source map, its module
 * @param projectDir places are relative to it */
export function locateFrames(profile: CpuProfile, buildDir: string, projectDir: string): CpuProfile {
  const map = new SourceMap(JSON.parse(readFileSync(join(buildDir, "worker.js.map"), "utf8")) as never);
  const module = readdirSync(buildDir).find((name) => name.endsWith(".wasm"));
  const exports = module === undefined ? new Map<number, string>() : listExports(readFileSync(join(buildDir, module)));
  const locate = (frame: CallFrame): CallFrame => {
    if (frame.url.startsWith("wasm:")) return nameExport(frame, exports);
    if (!frame.url.endsWith("worker.js") || frame.lineNumber < 0) return frame;
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
