/** Objects, deltas and packs by hand, right or wrong in any detail. Like `raw.ts`, it shares nothing with the Worker's code. */
import { createHash } from "node:crypto";
import { encodeEntry, hashObject, type RawEntry } from "./raw.ts";

/** The types an object can have. */
export type MadeType = "commit" | "tree" | "blob" | "tag";

/** An object made for a test, well formed or not. */
export interface MadeObject {
  readonly type: MadeType;
  readonly content: Buffer;
  /** Hexadecimal digits. */
  readonly oid: string;
}

/** An object of any content. @param content text stands for its UTF-8 form */
export function makeObject(type: MadeType, content: string | Uint8Array): MadeObject {
  const bytes = Buffer.from(content as string);
  return { type, content: bytes, oid: hashObject(type, bytes) };
}

/** An entry of a tree: mode, name, object or its id. Text stands for its UTF-8 form. */
export type MadeTreeEntry = readonly [mode: string, name: string | Uint8Array, object: MadeObject | string];

/** A tree of these entries, in the order given. */
export function makeTree(...entries: readonly MadeTreeEntry[]): MadeObject {
  const bytes = entries.flatMap(([mode, name, object]) => [
    Buffer.from(`${mode} `),
    Buffer.from(name as string),
    Buffer.from([0]),
    Buffer.from(typeof object === "string" ? object : object.oid, "hex"),
  ]);
  return makeObject("tree", Buffer.concat(bytes));
}

/** Who and when, as a well-formed commit or tag says it. */
export const PERSON = "Ada Example <ada@example.com> 1700000000 +0100";

/** A well-formed commit. */
export function makeCommit(
  tree: MadeObject | string,
  parents: readonly string[] = [],
  message = "Commit\n",
): MadeObject {
  const lines = [`tree ${typeof tree === "string" ? tree : tree.oid}`, ...parents.map((parent) => `parent ${parent}`)];
  return makeObject("commit", `${lines.join("\n")}\nauthor ${PERSON}\ncommitter ${PERSON}\n\n${message}`);
}

/** A well-formed annotated tag. @param type what it says its target is */
export function makeTag(target: MadeObject | string, type: string, name: string): MadeObject {
  const oid = typeof target === "string" ? target : target.oid;
  return makeObject("tag", `object ${oid}\ntype ${type}\ntag ${name}\ntagger ${PERSON}\n\nTag\n`);
}

/** What is wrong with a pack as a whole. */
export interface PackFlaws {
  readonly signature?: string;
  /** 2 unless set. */
  readonly version?: number;
  /** What the header says, instead of the true number of entries. */
  readonly count?: number;
  /** Instead of the SHA-1 of all that precedes. */
  readonly trailer?: Uint8Array;
}

/** A pack of encoded entries. */
export function assemblePack(entries: readonly Uint8Array[], flaws: PackFlaws = {}): Buffer {
  const header = Buffer.from(`${flaws.signature ?? "PACK"}\0\0\0\0\0\0\0\0`);
  header.writeUInt32BE(flaws.version ?? 2, 4);
  header.writeUInt32BE(flaws.count ?? entries.length, 8);
  const bytes = Buffer.concat([header, ...entries]);
  return Buffer.concat([bytes, flaws.trailer ?? createHash("sha1").update(bytes).digest()]);
}

/** A well-formed pack of whole objects. */
export function packOf(...objects: readonly MadeObject[]): Buffer {
  return assemblePack(objects.map((object) => encodeEntry(object)));
}

/** An entry's type and size, of any number and size: what `encodeEntry` would not write. @see gitformat-pack(5) */
export function encodeEntryHead(typeNumber: number, size: bigint): Buffer {
  const bytes = [(typeNumber << 4) | Number(size & 15n)];
  for (let rest = size >> 4n; rest > 0n; rest >>= 7n) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(Number(rest & 127n));
  }
  return Buffer.from(bytes);
}

/** A delta on an object of the pack or of the repository. */
export function refDelta(baseOid: string, delta: Uint8Array): RawEntry {
  return { type: "ref-delta", baseOid, content: delta };
}

/** A delta on the entry that begins `distance` bytes before. */
export function ofsDelta(distance: number, delta: Uint8Array): RawEntry {
  return { type: "ofs-delta", distance, content: delta };
}

/** A delta's sizes and instructions, true or not. @see gitformat-pack(5) "Deltified representation" */
export function encodeDelta(baseSize: number, resultSize: number, ...instructions: readonly Uint8Array[]): Buffer {
  return Buffer.concat([encodeSize(baseSize), encodeSize(resultSize), ...instructions]);
}

/** The delta that makes one object's bytes of another's by inserting them all. */
export function insertAll(baseSize: number, result: Uint8Array): Buffer {
  const inserts: Buffer[] = [];
  for (let at = 0; at < result.length; at += 127) inserts.push(insert(result.subarray(at, at + 127)));
  return encodeDelta(baseSize, result.length, ...inserts);
}

/** The instruction to copy from the base. @param size at most 0xffffff; 0x10000 is written as 0, as git does */
export function copy(offset: number, size: number): Buffer {
  const instruction = [0x80];
  for (let i = 0; i < 4; i++) push(instruction, 1 << i, (offset >>> (8 * i)) & 0xff);
  const written = size === 0x10000 ? 0 : size;
  for (let i = 0; i < 3; i++) push(instruction, 0x10 << i, (written >>> (8 * i)) & 0xff);
  return Buffer.from(instruction);
}

/** The instruction to insert new bytes. @param bytes 1 to 127 of them */
export function insert(bytes: string | Uint8Array): Buffer {
  const inserted = Buffer.from(bytes as string);
  return Buffer.concat([Buffer.from([inserted.length]), inserted]);
}

function push(instruction: number[], flag: number, byte: number): void {
  if (byte === 0) return;
  instruction[0]! |= flag;
  instruction.push(byte);
}

function encodeSize(size: number): Buffer {
  const bytes = [size % 128];
  for (let rest = Math.floor(size / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest % 128);
  }
  return Buffer.from(bytes);
}
