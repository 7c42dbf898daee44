/** The module's `fsck_object`, called as its comment in wasm/src/fsck_exports.zig says. */
import wasm from "../../src/codec/holdfast.wasm";
import { type FsckMessage, listFindings } from "../../src/codec/fsck-messages.ts";

const SUBJECTS = { commit: 1, tree: 2, blob: 3, tag: 4, gitmodules: 9, gitattributes: 10 } as const;

/** What an object is checked as, or named as. */
export type Subject = keyof typeof SUBJECTS;

/** What one check says. */
export interface Checked {
  readonly findings: readonly FsckMessage[];
  /** Seconds; 0 if there is no committer. */
  readonly commitTime: bigint;
  /** The objects it names, in its order, each `<subject> <oid>`. */
  readonly named: readonly string[];
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  fsck_object(subject: number, data: number, len: number, out: number, capacity: number): void;
}

const REPORT_BYTES = 24;
const RECORD_BYTES = 21;
const PAGE_BYTES = 65_536;

let exports: Exports | undefined;

/** Checks one object. The module's memory grows by what the call needs; nothing else is in there. */
export function checkObject(subject: Subject, content: Uint8Array): Checked {
  exports ??= instantiate();
  const capacity = Math.ceil(content.length / RECORD_BYTES);
  const out = reserve(exports.memory, REPORT_BYTES + capacity * RECORD_BYTES + content.length);
  const data = out + REPORT_BYTES + capacity * RECORD_BYTES;
  new Uint8Array(exports.memory.buffer).set(content, data);
  exports.fsck_object(SUBJECTS[subject], data, content.length, out, capacity);

  const report = Buffer.from(exports.memory.buffer, out, REPORT_BYTES + capacity * RECORD_BYTES);
  const named = Array.from({ length: report.readUInt32LE(16) }, (_, index) => {
    const at = REPORT_BYTES + index * RECORD_BYTES;
    const number = report[at + 20];
    const name = Object.entries(SUBJECTS).find(([, value]) => value === number)?.[0];
    return `${name} ${report.toString("hex", at, at + 20)}`;
  });
  return { findings: listFindings(report.readBigUInt64LE(0)), commitTime: report.readBigUInt64LE(8), named };
}

function instantiate(): Exports {
  // The indexer's import, which no check calls.
  const imports = { holdfast: { read_back: () => 0 } };
  return new WebAssembly.Instance(wasm, imports).exports as unknown as Exports;
}

let scratch = { start: 0, end: 0 };

function reserve(memory: WebAssembly.Memory, sizeBytes: number): number {
  if (scratch.end - scratch.start < sizeBytes) {
    const pages = Math.ceil((2 * sizeBytes) / PAGE_BYTES);
    const start = memory.grow(pages) * PAGE_BYTES;
    scratch = { start, end: start + pages * PAGE_BYTES };
  }
  return scratch.start;
}
