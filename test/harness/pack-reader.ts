/** Reads packs with node:zlib and node:crypto only, without the Worker's code, so that both cannot
 * have the same error. */
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { type MadeObject, type MadeType, makeObject } from "./pack-builder.ts";

const TYPES: Readonly<Record<number, MadeType>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };

/** A delta with an unresolved base. */
interface Waiting {
  readonly at: number;
  /** Offset of the base's entry, or its id. */
  readonly base: number | string;
  readonly delta: Buffer;
}

/** Reads all objects of a pack.
 * @param findHad returns bases that are not in the pack
 * @throws Error unless it is a complete and correct pack
 * @see gitformat-pack(5) */
export function readPack(pack: Buffer, findHad: (oid: string) => MadeObject | undefined): MadeObject[] {
  const end = pack.length - 20;
  if (end < 12 || pack.toString("latin1", 0, 8) !== "PACK\0\0\0\x02") throw new Error("no pack");
  if (!createHash("sha1").update(pack.subarray(0, end)).digest().equals(pack.subarray(end))) {
    throw new Error("the pack's checksum is wrong");
  }
  const byOffset = new Map<number, MadeObject>();
  const byOid = new Map<string, MadeObject>();
  let waiting: Waiting[] = [];
  let at = 12;
  const keep = (offset: number, object: MadeObject): void => {
    byOffset.set(offset, object);
    byOid.set(object.oid, object);
  };
  for (let left = pack.readUInt32BE(8); left > 0; left--) {
    const entry = readEntry(pack, at);
    if (entry.base === null) keep(at, makeObject(TYPES[entry.type]!, entry.content));
    else waiting.push({ at, base: entry.base, delta: entry.content });
    at = entry.end;
  }
  if (at !== end) throw new Error(`${end - at} bytes behind the last entry`);
  while (waiting.length > 0) {
    const next: Waiting[] = [];
    for (const one of waiting) {
      const base = typeof one.base === "number" ? byOffset.get(one.base) : (byOid.get(one.base) ?? findHad(one.base));
      if (base === undefined) next.push(one);
      else keep(one.at, makeObject(base.type, applyDelta(base.content, one.delta)));
    }
    if (next.length === waiting.length) throw new Error(`base ${waiting[0]!.base} is nowhere`);
    waiting = next;
  }
  return [...byOffset.values()];
}

/** Finds the deltas of a pack that precede a base which they name by its id.
 * @param offsets of all entries, by id, as reported by `git show-index`
 * @returns ids of deltas and bases */
export function findEarlyDeltas(pack: Buffer, offsets: ReadonlyMap<string, number>): [delta: string, base: string][] {
  const early: [string, string][] = [];
  for (const [oid, offset] of offsets) {
    // A base that git appends to a thin pack is beyond its end.
    if (offset >= pack.length - 20) continue;
    let at = offset;
    if (((pack[at]! >> 4) & 7) !== 7) continue;
    while (pack[at]! & 0x80) at++;
    const base = pack.toString("hex", at + 1, at + 21);
    const baseOffset = offsets.get(base);
    if (baseOffset !== undefined && baseOffset > offset && baseOffset < pack.length - 20) early.push([oid, base]);
  }
  return early;
}

function readEntry(
  pack: Buffer,
  start: number,
): { type: number; base: number | string | null; content: Buffer; end: number } {
  let at = start;
  let byte = pack[at++]!;
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  for (let shift = 4; byte & 0x80; shift += 7) size += ((byte = pack[at++]!) & 0x7f) * 2 ** shift;
  let base: number | string | null = null;
  if (type === 6) {
    let distance = (byte = pack[at++]!) & 0x7f;
    while (byte & 0x80) distance = (distance + 1) * 128 + ((byte = pack[at++]!) & 0x7f);
    base = start - distance;
  } else if (type === 7) {
    base = pack.toString("hex", at, at + 20);
    at += 20;
  } else if (TYPES[type] === undefined) throw new Error(`type ${type}`);
  const { buffer, engine } = inflateSync(pack.subarray(at), { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  if (buffer.length !== size) throw new Error(`${buffer.length} bytes instead of ${size}`);
  return { type, base, content: buffer, end: at + engine.bytesWritten };
}

/** @see gitformat-pack(5) "Deltified representation" */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0;
  const readSize = (): number => {
    let size = 0;
    let byte = 0x80;
    for (let shift = 0; byte & 0x80; shift += 7) size += ((byte = delta[at++]!) & 0x7f) * 2 ** shift;
    return size;
  };
  if (readSize() !== base.length) throw new Error("a delta's base has another size");
  const size = readSize();
  const parts: Buffer[] = [];
  while (at < delta.length) {
    const instruction = delta[at++]!;
    if ((instruction & 0x80) === 0) {
      parts.push(delta.subarray(at, (at += instruction)));
      continue;
    }
    let offset = 0;
    let length = 0;
    for (let i = 0; i < 4; i++) if (instruction & (1 << i)) offset += delta[at++]! * 2 ** (8 * i);
    for (let i = 0; i < 3; i++) if (instruction & (0x10 << i)) length += delta[at++]! * 2 ** (8 * i);
    parts.push(base.subarray(offset, offset + (length || 0x10000)));
  }
  const result = Buffer.concat(parts);
  if (result.length !== size) throw new Error("a delta's result has another size");
  return result;
}
