import { BLOB } from "../../base/format/object.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { createHash } from "node:crypto";
import { equalOids, OID_BYTES, toHex } from "../../base/format/oid.ts";
import { decodeEntryHeader, decodeOfsDistance, OFS_DELTA } from "../../base/format/pack.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ObjectRow } from "../store/index/object-columns.ts";
import { OpenRange } from "../../base/chunks/open-range.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { WHOLE_READ_BYTES } from "../../base/bytes/read-extent.ts";
import { hashChunk } from "../objects/chunk-bytes.ts";
import { Contents } from "./contents.ts";
import type { FsckRun, FsckStage } from "./fsck-run.ts";
import type { FsckProblem } from "../../contract/upkeep.ts";
import { findLoss, hasOid } from "./stored-entries.ts";

/** Bytes of a large chunk that are read at a time. */
const READ_BYTES = 256 * 1024;

/** Checks chunks by id: that their bytes exist and are those that were written, that their objects
 * match their rows and ids, and that the objects they name exist. The smallest step is one object:
 * `5` means that chunk 5 is done, `5.100` that its objects up to number 100 are. */
export const checkChunks: FsckStage = async (run, after) => {
  const [id = "", number = ""] = after.split(".");
  const begun = number === "" ? null : { chunk: Number(id), number: Number(number) };
  let last = begun === null ? Number(id) : begun.chunk - 1;
  for (;;) {
    const chunk = run.tables.chunks.next(last);
    if (chunk === null) return null;
    const end = await checkChunk(run, chunk, chunk.id === begun?.chunk ? begun.number : 0);
    if (end !== null) return `${chunk.id}.${end}`;
    last = chunk.id;
    if (run.isSpent) return String(last);
  }
};

/** @param done the last of its objects that an earlier call checked, 0: none
 * @returns the last object checked, null: all were */
async function checkChunk(run: FsckRun, chunk: ChunkRow, done: number): Promise<number | null> {
  const hotBytes = chunk.key === null ? run.tables.objects.hot.bytesOf(chunk.id) : null;
  const { rows, baseOids } = await run.attempt("objects of chunks", () => readRows(run, chunk), NO_ROWS);
  // From here on other requests may change the rows. What was read of them stays correct.
  if (done === 0) {
    run.checked.chunks += 1;
    run.checked.bytes += chunk.size;
    if (rows !== NO_ROWS.rows) checkRow(run, chunk, rows);
  }
  const { bytes, problem } = chunk.key === null ? checkHot(chunk, hotBytes) : await checkSealed(run, chunk, chunk.key);
  if (problem !== null && done === 0) {
    run.report({ ...problem, chunk: chunk.id, ...(chunk.key !== null && { key: chunk.key }) });
  }
  if (problem !== null && problem.kind !== "chunk-checksum") {
    run.entries.lose(chunk.id);
    return null;
  }
  run.entries.enter(chunk, rows, bytes);
  const contents = new Contents(run);
  for (const [i, row] of rows.entries()) {
    if (row.number <= done) continue;
    await run.step(row.size);
    run.checked.objects += 1;
    try {
      await checkObject(run, row, baseOids.get(row.base), contents);
    } catch (error) {
      run.report({
        kind: "object-unreadable",
        oid: toHex(row.oid),
        chunk: chunk.id,
        detail: await run.damageOf(error),
      });
    }
    if (!run.isOver || i === rows.length - 1) continue;
    await contents.flush();
    return row.number;
  }
  await contents.flush();
  return null;
}

/** The rows of a chunk's objects, and those of the delta bases that they name. */
interface ChunkRows {
  readonly rows: readonly ObjectRow[];
  readonly baseOids: ReadonlyMap<ObjectNumber, ObjectRow>;
}

/** They cannot be read. */
const NO_ROWS: ChunkRows = { rows: [], baseOids: new Map() };

function readRows({ audit }: FsckRun, chunk: ChunkRow): ChunkRows {
  const rows = audit.objectsIn(chunk);
  return { rows, baseOids: audit.namedObjects(rows.filter(({ base }) => base !== 0).map(({ base }) => base)) };
}

/** A chunk's bytes, null when some are missing or they are too many to hold; and what is wrong with
 * them. */
interface ChunkBytes {
  readonly bytes: Uint8Array | null;
  readonly problem: Pick<FsckProblem, "kind" | "detail"> | null;
}

const CHANGED = { kind: "chunk-checksum", detail: "its bytes differ from those that were written" } as const;

function checkHot({ size, checksum }: ChunkRow, bytes: Uint8Array | null): ChunkBytes {
  if (bytes?.length !== size) {
    return { bytes: null, problem: { kind: "chunk-short", detail: `it has ${bytes?.length ?? 0} of ${size} bytes` } };
  }
  return { bytes, problem: equalOids(hashChunk(bytes), checksum) ? null : CHANGED };
}

async function checkSealed(run: FsckRun, chunk: ChunkRow, key: string): Promise<ChunkBytes> {
  const { start, size, checksum } = chunk;
  try {
    if (size <= WHOLE_READ_BYTES) {
      const bytes = await run.store.read(key, start, size);
      return { bytes, problem: equalOids(hashChunk(bytes), checksum) ? null : CHANGED };
    }
    const hash = createHash("sha1");
    const range = new OpenRange(run.store, key, start, size);
    const slice = new TimeSlice();
    for (let read = 0, buffer = new ArrayBuffer(READ_BYTES); read < size; await slice.pause()) {
      const piece = await range.read(new Uint8Array(buffer));
      hash.update(piece);
      read += piece.length;
      buffer = piece.buffer;
    }
    return { bytes: null, problem: equalOids(new Uint8Array(hash.digest()), checksum) ? null : CHANGED };
  } catch (error) {
    const problem = await findLoss(run.store, chunk);
    if (problem === null) throw error;
    return { bytes: null, problem };
  }
}

/** Checks what the chunk's row says about its objects: clones rely on it and send the chunk without
 * inspecting it. */
function checkRow(run: FsckRun, chunk: ChunkRow, rows: readonly ObjectRow[]): void {
  const say = (detail: string): void => run.report({ kind: "chunk-row", chunk: chunk.id, detail });
  if (rows.length === 0) return say("it has no objects");
  const lowest = (numbers: readonly ObjectNumber[]): number =>
    numbers.reduce((low, number) => Math.min(low, number), Infinity);
  const floors = {
    baseFloor: lowest(rows.filter(({ base }) => base !== 0).map(({ base }) => base)),
    ofsFloor: lowest(rows.filter(({ distance }) => distance !== 0).map(({ base }) => base)),
  };
  for (const name of ["baseFloor", "ofsFloor"] as const) {
    // A pruned object may have referred to a lower one.
    if (floors[name] !== Infinity && (chunk[name] === 0 || chunk[name] > floors[name])) {
      say(`${name} is ${chunk[name]}, but a delta refers to ${floors[name]}`);
    }
  }
  if (!chunk.whole) return;
  let end = 0;
  for (const { offset, length } of rows) {
    if (offset !== end) return say(`it is marked whole, but no object begins at ${end}`);
    end = offset + length;
  }
  if (rows.some(({ number, base }) => base > number)) say("it is marked whole, but a delta precedes its base");
  if (end !== chunk.size) say(`it is marked whole, but its objects end at ${end} of ${chunk.size} bytes`);
}

/** @throws GitError when the object cannot be read from its entry and delta chain */
async function checkObject(
  run: FsckRun,
  row: ObjectRow,
  base: ObjectRow | undefined,
  contents: Contents,
): Promise<void> {
  const { entries } = run;
  const oid = toHex(row.oid);
  const changed = { kind: "object-changed", oid, chunk: row.chunk, detail: "its content has another id" } as const;
  if (entries.isStreamed(row)) {
    const streamed = await entries.hashStreamed(row);
    if (streamed.sizeBytes !== row.size || !equalOids(streamed.oid, row.oid)) run.report(changed);
    return;
  }
  const { type, bytes } = await entries.readObject(row);
  if (!hasOid(type, bytes, row.oid)) return run.report(changed);
  const say = (detail: string): void => run.report({ kind: "object-row", oid, chunk: row.chunk, detail });
  if (type !== row.type) say(`its type is ${type}, but ${row.type} in its row`);
  if (bytes.length !== row.size) say(`its size is ${bytes.length}, but ${row.size} in its row`);
  if (row.base !== 0) checkBaseName(await entries.read(row), row, base, say);
  // What a hidden object names may be missing.
  if (type !== BLOB && !run.tables.objects.hidden().has(row.number)) await contents.add(row, type, bytes);
}

/** Checks that a delta's entry names the same base as its row. */
function checkBaseName(
  entry: Uint8Array,
  row: ObjectRow,
  base: ObjectRow | undefined,
  say: (detail: string) => void,
): void {
  const { type, headerBytes } = decodeEntryHeader(entry);
  if (type === OFS_DELTA) {
    const { distance } = decodeOfsDistance(entry, headerBytes);
    if (distance !== row.distance) say(`its base is ${distance} bytes before it, but ${row.distance} in its row`);
  } else {
    if (row.distance !== 0) say("its entry names its base by id, but its row by distance");
    const named = entry.subarray(headerBytes, headerBytes + OID_BYTES);
    if (base !== undefined && !equalOids(named, base.oid)) say("its entry names another base than its row");
  }
}
