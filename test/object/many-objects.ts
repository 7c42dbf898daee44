/** Pushes of as many items of a kind as fit, in memory. */
import { expect } from "vitest";
import { assemblePack, type MadeObject, makeObject, makeTree } from "../harness/pack-builder.ts";
import { encodeEntry } from "../harness/raw.ts";
import type { HexCommand, PushedRepository } from "./pushing.ts";

export const BLOB = makeObject("blob", "text\n");
export const TREE = makeTree(["100644", "file", BLOB]);

/** Packed entries, to be reused: there are many. */
const ENTRIES = new WeakMap<MadeObject, Buffer>();

export function packMany(objects: readonly MadeObject[]): Buffer {
  return assemblePack(
    objects.map((object) => {
      const entry = ENTRIES.get(object) ?? encodeEntry({ ...object, compressed: deflateStored(object.content) });
      ENTRIES.set(object, entry);
      return entry;
    }),
  );
}

/** A zlib stream of blocks that are stored: setting up a compressor takes longer than such small
 * content. RFC 1950, RFC 1951 3.2.4. */
function deflateStored(content: Uint8Array): Buffer {
  const pieces: Uint8Array[] = [Buffer.from([0x78, 0x01])];
  let [a, b] = [1, 0];
  let at = 0;
  do {
    const block = content.subarray(at, at + 0xffff);
    at += block.length;
    const head = Buffer.from([at === content.length ? 1 : 0, 0, 0, 0, 0]);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    pieces.push(head, block);
  } while (at < content.length);
  for (const byte of content) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(b * 65_536 + a);
  return Buffer.concat([...pieces, checksum]);
}

/** Pushes new refs, which must all be taken. */
export async function pushMany(
  repository: PushedRepository,
  refs: Readonly<Record<string, MadeObject>>,
  objects: readonly MadeObject[],
): Promise<void> {
  const commands = Object.entries(refs).map(([name, { oid }]): HexCommand => [name, null, oid]);
  const pushed = await repository.push(commands, packMany(objects));
  expect(pushed.unpack).toBe("ok");
  expect(pushed.refs.filter(({ error }) => error !== null)).toEqual([]);
}
