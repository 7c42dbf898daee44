/** Maps the functions of a deployed build to their sources. */
import { readdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join, relative, resolve } from "node:path";
import type { CallFrame, CpuProfile } from "./cpu-profile.ts";

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
