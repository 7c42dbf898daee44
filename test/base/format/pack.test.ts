import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import { fromTypeNumber } from "../../../src/base/format/object.ts";
import {
  decodeEntryHeader,
  decodeOfsDistance,
  decodePackHeader,
  encodeEntryHeader,
  encodeOfsDistance,
  encodePackHeader,
  entryHeaderLength,
  type EntryType,
  OFS_DELTA,
  ofsDistanceLength,
  PACK_HEADER_BYTES,
} from "../../../src/base/format/pack.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";

const CORRUPT = expect.objectContaining({ code: "corrupt-pack" });

/** One line of `git verify-pack -v`. */
interface VerifiedEntry {
  readonly oid: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly offset: number;
  readonly base: string | undefined;
}

async function makePack(): Promise<{ pack: Uint8Array; entries: VerifiedEntry[] }> {
  const dir = await makeRepository("packed");
  const random = new Random(8);
  const lines = Array.from({ length: 3_000 }, () => random.bytes(12).join(" "));
  for (let round = 0; round < 8; round++) {
    lines[random.below(lines.length)] = `changed in round ${round}`;
    writeFileSync(join(dir, "file"), lines.join("\n"));
    await git(dir, "add", "file");
    await git(dir, "commit", "-q", "-m", `round ${round}`);
  }
  await git(dir, "tag", "-a", "-m", "a tag", "v1");
  const args = ["pack-objects", "--revs", "--all", "--delta-base-offset", "-q", "p"];
  const name = (await tryGit(dir, args, { stdin: "" })).stdout.trim();
  const verified = await git(dir, "verify-pack", "-v", `p-${name}.idx`);
  const entries = verified.split("\n").flatMap((line) => {
    const [, oid, type, size, offset, base] =
      /^([0-9a-f]{40}) (\w+) +(\d+) \d+ (\d+)(?: \d+ ([0-9a-f]{40}))?$/.exec(line) ?? [];
    return oid === undefined ? [] : [{ oid, type: type!, sizeBytes: Number(size), offset: Number(offset), base }];
  });
  return { pack: await readFile(join(dir, `p-${name}.pack`)), entries };
}

test("reads the headers of git's own pack, and writes them the same", async () => {
  const { pack, entries } = await makePack();
  expect(decodePackHeader(pack)).toBe(entries.length);
  expect(encodePackHeader(entries.length)).toEqual(new Uint8Array(pack.subarray(0, PACK_HEADER_BYTES)));
  const offsets = new Map(entries.map(({ oid, offset }) => [oid, offset]));
  expect(entries.filter(({ base }) => base !== undefined).length).toBeGreaterThan(4);
  for (const { type, sizeBytes, offset, base } of entries) {
    const header = decodeEntryHeader(pack, offset);
    const afterHeader = offset + header.headerBytes;
    expect(header.sizeBytes).toBe(sizeBytes);
    expect(encodeEntryHeader(header.type, header.sizeBytes)).toEqual(
      new Uint8Array(pack.subarray(offset, afterHeader)),
    );
    if (base === undefined) {
      expect(fromTypeNumber(header.type)).toBe(type);
    } else {
      const { distance, lengthBytes } = decodeOfsDistance(pack, afterHeader);
      expect(header.type).toBe(OFS_DELTA);
      expect(offset - distance).toBe(offsets.get(base));
      expect(encodeOfsDistance(distance)).toEqual(
        new Uint8Array(pack.subarray(afterHeader, afterHeader + lengthBytes)),
      );
    }
  }
});

test("a pack's header may be of version 2 or 3, and of no other", () => {
  const header = (version: number): Uint8Array =>
    fromByteString(`PACK\0\0\0${String.fromCharCode(version)}\xff\xff\xff\xff`);
  expect(decodePackHeader(header(2))).toBe(2 ** 32 - 1);
  expect(decodePackHeader(header(3))).toBe(2 ** 32 - 1);
  for (const version of [0, 1, 4]) expect(() => decodePackHeader(header(version))).toThrow(CORRUPT);
  expect(() => decodePackHeader(header(2).subarray(0, 11))).toThrow(CORRUPT);
  expect(() => decodePackHeader(fromByteString("KCAP\0\0\0\x02\0\0\0\0"))).toThrow(CORRUPT);
});

/** Numbers around every power of two, where encodings change their length, and random ones. */
function* numbers(): Generator<number> {
  for (let bits = 0; bits < 53; bits++) yield* [2 ** bits - 1, 2 ** bits, 2 ** bits + 1];
  // Where an OFS delta's distance takes one byte more: 2^7, 2^7 + 2^14, …
  for (let bits = 7, limit = 128; bits < 49; bits += 7, limit += 2 ** bits) yield* [limit - 1, limit];
  const random = new Random(9);
  for (let round = 0; round < 1_000; round++) yield random.below(2 ** random.below(32)) * 2 ** random.below(21);
  yield Number.MAX_SAFE_INTEGER;
}

test("every safe size and distance round-trips at its stated length", () => {
  const types: EntryType[] = [1, 2, 3, 4, 6, 7];
  for (const number of numbers()) {
    const type = types[number % types.length]!;
    const header = encodeEntryHeader(type, number);
    expect(decodeEntryHeader(header)).toEqual({ type, sizeBytes: number, headerBytes: header.length });
    expect(header.length).toBe(entryHeaderLength(number));
    if (number === 0) continue;
    const distance = encodeOfsDistance(number);
    expect(decodeOfsDistance(distance)).toEqual({ distance: number, lengthBytes: distance.length });
    expect(distance.length).toBe(ofsDistanceLength(number));
  }
});

test.each([
  ["no bytes", ""],
  ["type 0", "\x00"],
  ["type 5", "\x50"],
  ["a size cut short", "\xb0\x80"],
  ["a size of 2^53", "\xb0\x80\x80\x80\x80\x80\x80\x80\x01"],
  ["a size varint without end", `\xb0${"\xff".repeat(40)}`],
])("an entry with %s is corrupt", (_, bytes) => {
  expect(() => decodeEntryHeader(fromByteString(bytes))).toThrow(CORRUPT);
});

test.each([
  ["no bytes", ""],
  ["distance 0", "\x00"],
  ["a distance cut short", "\x80"],
  ["a distance varint without end", "\xff".repeat(40)],
  ["a distance above 2^53", "\xff\xff\xff\xff\xff\xff\xff\xff\x00"],
])("a delta with %s is corrupt", (_, bytes) => {
  expect(() => decodeOfsDistance(fromByteString(bytes))).toThrow(CORRUPT);
});
