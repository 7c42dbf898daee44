/** The module's `fsck_object`, called as its comment in wasm/src/fsck_exports.zig says. */
import wasm from "../../../src/base/codec/holdfast.wasm";
import { type FsckMessage, listFindings } from "../../../src/base/codec/fsck-messages.ts";

const SUBJECTS = { commit: 1, tree: 2, blob: 3, tag: 4, gitmodules: 9, gitattributes: 10 } as const;

/** The type as which an object is checked, or referred to. */
export type Subject = keyof typeof SUBJECTS;

/** The result of one check. */
export interface Checked {
  readonly findings: readonly FsckMessage[];
  /** Seconds; 0 if there is no committer. */
  readonly commitTime: bigint;
  /** The objects it refers to, in its order, each `<subject> <oid>`. */
  readonly named: readonly string[];
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  alloc(size: number): number;
  mark(): number;
  release(at: number): void;
  fsck_object(subject: number, data: number, len: number, out: number, capacity: number): void;
}

// `Report` and `Named`.
const REPORT_BYTES = 24;
const RECORD_BYTES = 21;

let instance: Exports | undefined;

/** Checks one object. */
export function checkObject(subject: Subject, content: Uint8Array): Checked {
  // The indexer's import, which no check calls.
  const none = (): number => 0;
  const imports = { holdfast: { read_back: none, page_out: none, page_in: none } };
  const { memory, ...module } = (instance ??= new WebAssembly.Instance(wasm, imports).exports as unknown as Exports);
  const start = module.mark();
  const capacity = Math.ceil(content.length / RECORD_BYTES);
  const outBytes = REPORT_BYTES + capacity * RECORD_BYTES;
  const out = module.alloc(outBytes);
  const data = module.alloc(content.length);
  new Uint8Array(memory.buffer).set(content, data);
  module.fsck_object(SUBJECTS[subject], data, content.length, out, capacity);

  const report = Buffer.from(memory.buffer, out, outBytes);
  const named = Array.from({ length: report.readUInt32LE(16) }, (_, index) => {
    const at = REPORT_BYTES + index * RECORD_BYTES;
    const number = report[at + 20];
    const name = Object.entries(SUBJECTS).find(([, value]) => value === number)?.[0];
    return `${name} ${report.toString("hex", at, at + 20)}`;
  });
  module.release(start);
  return { findings: listFindings(report.readBigUInt64LE(0)), commitTime: report.readBigUInt64LE(8), named };
}
