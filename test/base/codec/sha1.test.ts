import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha1 } from "@noble/hashes/legacy.js";
import { expect, test } from "vitest";
import { instantiateCodec } from "../../../src/base/codec/codec.ts";
import wasm from "../../../src/base/codec/holdfast.wasm";
import { CodecInstance } from "../../../src/base/codec/module.ts";
import { isGitError } from "../../../src/base/format/errors.ts";
import { type ObjectType, objectHeader } from "../../../src/base/format/object.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { encodeObject } from "./encoded-object.ts";
import { cut, LARGE_SIZES, noise, repetitive, SMALL_SIZES, text } from "./sample.ts";

const codec = instantiateCodec(wasm);
const TYPES: ObjectType[] = ["commit", "tree", "blob", "tag"];

/** The first 640 bytes of the public collisions: both files of a pair have the same SHA-1, and must
 * be refused. */
const COLLISIONS = ["shattered-1", "shattered-2", "sha-mbles-1", "sha-mbles-2"].map((name) => ({
  name,
  bytes: new Uint8Array(readFileSync(join(import.meta.dirname, "vectors", `${name}.bin`))),
}));

function gitId(type: ObjectType, content: Uint8Array): string {
  return toHex(sha1.create().update(objectHeader(type, content.length)).update(content).digest());
}

test("hash agrees with another implementation at every size around a block", () => {
  for (const size of [...SMALL_SIZES, ...LARGE_SIZES]) {
    const bytes = noise(size, size + 1);
    expect(toHex(codec.hash(bytes)), `${size} bytes`).toBe(toHex(sha1(bytes)));
  }
});

test("hashObjects agrees whatever lies beside an object in the lanes", () => {
  const sizes = [...SMALL_SIZES, ...LARGE_SIZES, 0, 1_100_000, ...SMALL_SIZES.toReversed()];
  const objects = sizes.map((size, index) => ({ type: TYPES[index % 4]!, content: text(size, index + 1) }));
  for (const count of [0, 1, 2, 3, 4, 5, 63, 64, 65, objects.length]) {
    const some = objects.slice(0, count);
    expect(codec.hashObjects(some).map((oid) => toHex(oid))).toEqual(
      some.map(({ type, content }) => gitId(type, content)),
    );
  }
});

test("ids are git's", async () => {
  const repository = await makeRepository("ids");
  for (const size of [0, 1, 55, 56, 64, 5_000]) {
    const content = repetitive(size);
    const { stdout } = await tryGit(repository, ["hash-object", "--stdin"], { stdin: content });
    expect(codec.hashObjects([{ type: "blob", content }]).map((oid) => toHex(oid))).toEqual([stdout.trim()]);
  }
});

test("a stream hashes its pieces as one", () => {
  const bytes = noise(1_200_000);
  for (const sizes of [[1_200_000], [65_536], [64], [1, 63, 64, 65, 127, 4_000], [100_001]]) {
    const stream = codec.sha1Stream();
    for (const piece of cut(bytes, ...sizes)) stream.update(piece);
    expect(toHex(stream.digest())).toBe(toHex(sha1(bytes)));
  }
  expect(toHex(codec.sha1Stream().digest())).toBe(toHex(sha1(new Uint8Array())));
});

test.each(COLLISIONS)("$name is refused, whole and in pieces, and with more behind it", ({ bytes }) => {
  const refusal = expect.objectContaining({ code: "sha1-collision", data: { oid: toHex(sha1(bytes)) } });
  expect(() => codec.hash(bytes)).toThrow(refusal);
  for (const size of [1, 64, 100]) {
    const stream = codec.sha1Stream();
    for (const piece of cut(bytes, size)) stream.update(piece);
    expect(() => stream.digest()).toThrow(refusal);
  }
  const longer = new Uint8Array([...bytes, ...noise(1_000)]);
  expect(() => codec.hash(longer)).toThrow(/collision/);
});

test("half a collision is refused in every lane, and nothing beside it", () => {
  const innocent = Array.from({ length: 9 }, (_, index) => noise(640, index + 7));
  for (const { name, bytes } of COLLISIONS) {
    for (let at = 0; at < innocent.length; at++) {
      const flags = hashRaw(innocent.with(at, bytes));
      expect(flags, `${name} as message ${at}`).toEqual(innocent.map((_, index) => index === at));
    }
  }
});

test("a colliding block is no collision behind another chaining value", () => {
  for (const { bytes } of COLLISIONS) {
    const { oid } = encodeObject(codec, "blob", bytes);
    expect(toHex(oid)).toBe(gitId("blob", bytes));
    expect(toHex(codec.hashObjects([{ type: "blob", content: bytes }])[0]!)).toBe(gitId("blob", bytes));
    // An object's header shifts the blocks. Here they stay aligned, after an unrelated block.
    expect(toHex(codec.hash(new Uint8Array([...noise(64), ...bytes])))).toBe(
      toHex(sha1(new Uint8Array([...noise(64), ...bytes]))),
    );
  }
});

test("no false alarm in 40 MB", { tags: "sweep" }, () => {
  for (let seed = 1; seed <= 20; seed++) {
    const bytes = seed % 2 === 0 ? noise(2_000_000, seed) : repetitive(2_000_000, seed);
    try {
      codec.hash(bytes);
    } catch (error) {
      expect(isGitError(error, "sha1-collision")).toBe(false);
      throw error;
    }
  }
});

/** Hashes messages without a header in the lanes, as `Job` in wasm/src/object.zig says, and returns
 * which ones collide. */
function hashRaw(messages: readonly Uint8Array[]): boolean[] {
  const instance = new CodecInstance(wasm);
  const jobs = instance.take(32 * messages.length);
  const addresses = messages.map((bytes) => instance.put(bytes));
  const records = new DataView(instance.exports.memory.buffer, jobs);
  for (const [index, bytes] of messages.entries()) {
    records.setUint32(32 * index, addresses[index]!, true);
    records.setUint32(32 * index + 4, bytes.length, true);
    records.setUint8(32 * index + 8, 0);
  }
  instance.exports.hash_all(jobs, messages.length);
  return messages.map((bytes, index) => {
    expect(toHex(instance.bytes(jobs + 32 * index + 10, 20))).toBe(toHex(sha1(bytes)));
    return records.getUint8(32 * index + 9) === 1;
  });
}
