import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { type DeflateLevel, instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { type ObjectType, toTypeNumber } from "../../../src/base/format/object.ts";
import { decodeEntryHeader, encodeEntryHeader, encodePackHeader } from "../../../src/base/format/pack.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { encodeObject } from "./encoded-object.ts";
import { noise, text } from "./sample.ts";

const codec = instantiateCodec(wasm);

test("an encoded object is its pack entry at every level, and its id", () => {
  for (const type of ["commit", "tree", "blob", "tag"] satisfies ObjectType[]) {
    for (const [index, size] of [0, 1, 15, 16, 2_047, 2_048, 300_000, 1_200_000].entries()) {
      const content = text(size);
      const { oid, entry } = encodeObject(codec, type, content, ((index * 3) % 10) as DeflateLevel);
      const { headerBytes } = decodeEntryHeader(entry);
      expect(entry.slice(0, headerBytes)).toEqual(encodeEntryHeader(toTypeNumber(type), size));
      expect(Buffer.compare(inflateSync(entry.subarray(headerBytes)), content)).toBe(0);
      expect(codec.hashObjects([{ type, content }])).toEqual([oid]);
    }
  }
});

test("git unpacks a pack of encoded objects", async () => {
  const contents = [new Uint8Array(), text(100), noise(5_000), text(400_000)];
  const objects = contents.map((content) => encodeObject(codec, "blob", content));
  const body = Buffer.concat([encodePackHeader(objects.length), ...objects.map(({ entry }) => entry)]);
  const pack = Buffer.concat([body, codec.hash(body)]);
  const repository = await makeRepository("entries");
  const { code, stderr } = await tryGit(repository, ["unpack-objects", "-q", "--strict"], { stdin: pack });
  expect(stderr).toBe("");
  expect(code).toBe(0);
  for (const [index, { oid }] of objects.entries()) {
    const { stdoutBytes } = await tryGit(repository, ["cat-file", "blob", toHex(oid)]);
    expect(Buffer.compare(stdoutBytes, contents[index]!)).toBe(0);
  }
});
