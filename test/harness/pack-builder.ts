/** Builds objects, deltas and packs, well formed or wrong in any detail. Like `raw.ts`, it shares
 * no code with the Worker. */
import { createHash } from "node:crypto";
import { encodeEntry, hashObject, type RawEntry } from "./raw.ts";

/** Object types. */
export type MadeType = "commit" | "tree" | "blob" | "tag";

/** An object made for a test, well formed or not. */
export interface MadeObject {
  readonly type: MadeType;
  readonly content: Buffer;
  /** Hexadecimal digits. */
  readonly oid: string;
}

/** An object with any content.
 * @param content text is encoded as UTF-8 */
export function makeObject(type: MadeType, content: string | Uint8Array): MadeObject {
  const bytes = Buffer.from(content as string);
  return { type, content: bytes, oid: hashObject(type, bytes) };
}

/** An entry of a tree: mode, name, object or its id. Text is encoded as UTF-8. */
export type MadeTreeEntry = readonly [mode: string, name: string | Uint8Array, object: MadeObject | string];

/** A tree with these entries, in the given order. */
export function makeTree(...entries: readonly MadeTreeEntry[]): MadeObject {
  return makeWideTree(entries);
}

/** As `makeTree`, of more entries than a call takes. */
export function makeWideTree(entries: readonly MadeTreeEntry[]): MadeObject {
  const bytes = entries.flatMap(([mode, name, object]) => [
    Buffer.from(`${mode} `),
    Buffer.from(name as string),
    Buffer.from([0]),
    Buffer.from(typeof object === "string" ? object : object.oid, "hex"),
  ]);
  return makeObject("tree", Buffer.concat(bytes));
}

/** A well-formed identity of a commit or tag. */
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

/** A well-formed annotated tag.
 * @param type what it states as its target's type */
export function makeTag(target: MadeObject | string, type: string, name: string): MadeObject {
  const oid = typeof target === "string" ? target : target.oid;
  return makeObject("tag", `object ${oid}\ntype ${type}\ntag ${name}\ntagger ${PERSON}\n\nTag\n`);
}

/** Flaws of a pack as a whole. */
export interface PackFlaws {
  readonly signature?: string;
  /** Default: 2. */
  readonly version?: number;
  /** Number of entries in the header, instead of the true one. */
  readonly count?: number;
  /** Instead of the SHA-1 of everything before. */
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

/** A well-formed pack of undeltified objects. */
export function packOf(...objects: readonly MadeObject[]): Buffer {
  return assemblePack(objects.map((object) => encodeEntry(object)));
}

/** An entry's type and size, with any values: what `encodeEntry` would not write.
 * @see gitformat-pack(5) */
export function encodeEntryHead(typeNumber: number, size: bigint): Buffer {
  const bytes = [(typeNumber << 4) | Number(size & 15n)];
  for (let rest = size >> 4n; rest > 0n; rest >>= 7n) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(Number(rest & 127n));
  }
  return Buffer.from(bytes);
}

/** A delta based on an object of the pack or of the repository. */
export function refDelta(baseOid: string, delta: Uint8Array): RawEntry {
  return { type: "ref-delta", baseOid, content: delta };
}

/** A delta based on the entry that begins `distance` bytes before. */
export function ofsDelta(distance: number, delta: Uint8Array): RawEntry {
  return { type: "ofs-delta", distance, content: delta };
}

/** A delta's sizes and instructions, true or false.
 * @see gitformat-pack(5) "Deltified representation" */
export function encodeDelta(baseSize: number, resultSize: number, ...instructions: readonly Uint8Array[]): Buffer {
  return Buffer.concat([encodeSize(baseSize), encodeSize(resultSize), ...instructions]);
}

/** The delta that turns any object into this one by inserting all bytes. */
export function insertAll(baseSize: number, result: Uint8Array): Buffer {
  const inserts: Buffer[] = [];
  for (let at = 0; at < result.length; at += 127) inserts.push(insert(result.subarray(at, at + 127)));
  return encodeDelta(baseSize, result.length, ...inserts);
}

/** The instruction to copy from the base.
 * @param size at most 0xffffff; 0x10000 is written as 0, as git does */
export function copy(offset: number, size: number): Buffer {
  const instruction = [0x80];
  for (let i = 0; i < 4; i++) push(instruction, 1 << i, (offset >>> (8 * i)) & 0xff);
  const written = size === 0x10000 ? 0 : size;
  for (let i = 0; i < 3; i++) push(instruction, 0x10 << i, (written >>> (8 * i)) & 0xff);
  return Buffer.from(instruction);
}

/** The instruction to insert new bytes.
 * @param bytes 1 to 127 of them */
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
