// Blobs that come as deltas and are too large to be held in memory. That limit is lowered to 256
// KiB here; `e2e/large-deltas` has real sizes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NumberSet } from "../../src/base/numbers/number-set.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import {
  assemblePack,
  copy,
  encodeDelta,
  insert,
  makeCommit,
  type MadeObject,
  makeObject,
  makeTree,
  refDelta,
} from "../harness/pack-builder.ts";
import { Random } from "../harness/random.ts";
import { encodeEntry } from "../harness/raw.ts";
import { PushedRepository } from "./pushing.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const HELD = 256 * KIB;

function newRepository(limits: Record<string, number> = {}): PushedRepository {
  return new PushedRepository({ limits: { maxResidentObjectBytes: HELD, ...limits } });
}

/** Clones the repository's `main`, and has git check every object. @returns how many there are */
async function checkClone(repository: PushedRepository): Promise<number> {
  const tip = repository.refs().get("refs/heads/main")!;
  const bare = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(bare, ["index-pack", "--stdin"], { stdin: await repository.clone(tip) });
  expect(indexed.stderr).toBe("");
  await git(bare, "update-ref", "refs/heads/main", tip);
  expect(await git(bare, "fsck", "--full", "--strict")).toBe("");
  return Number(await git(bare, "rev-list", "--objects", "--all", "--count"));
}

/** Pushes blobs, of which some entries are deltas, below one tree. */
function pushBlobs(repository: PushedRepository, blobs: readonly MadeObject[], entries: readonly Uint8Array[]) {
  const tree = makeTree(...blobs.map((blob, i) => ["100644", `f${String(i).padStart(4, "0")}`, blob] as const));
  const commit = makeCommit(tree);
  const pack = assemblePack([...entries, encodeEntry(tree), encodeEntry(commit)]);
  return repository.push([["refs/heads/main", null, commit.oid]], pack);
}

test("git's deltas on a large text: thin, in one pack, and on what was made so", { tags: "sweep" }, async () => {
  const dir = await makeRepository("text");
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i} ${Math.imul(i, 0x9e37_79b1).toString(16)}\n`);
  const versions = [
    lines.join(""),
    ["new\n", ...lines.slice(500, 30_000), "changed\n", ...lines.slice(30_001), ...lines.slice(0, 500)].join(""),
    lines.slice(0, 100).join(""),
    lines.slice(0, 101).join(""),
    lines.toReversed().join(""),
  ];
  const thin = newRepository();
  for (const version of versions) {
    writeFileSync(join(dir, "large.txt"), version);
    await git(dir, "add", ".");
    await git(dir, "commit", "-q", "-m", "version");
    expect(await thin.pushFrom(dir, { "refs/heads/main": "HEAD" })).toMatchObject({ unpack: "ok" });
  }
  expect(await checkClone(thin)).toBe(15);
  await git(dir, "repack", "-adfq", "--window=20");
  const whole = newRepository();
  expect(await whole.pushFrom(dir, { "refs/heads/main": "HEAD" })).toMatchObject({ unpack: "ok" });
  expect(await checkClone(whole)).toBe(15);
  // Large objects are stored whole, so that readers can stream them.
  for (const { tables } of [thin, whole]) {
    const rows = tables.objects.locate(NumberSet.range(1, tables.objects.lastNumber() + 1));
    const deltas = Array.from(rows.size).filter((size, i) => size > HELD && rows.base[i] !== 0);
    expect(deltas).toEqual([]);
  }
});

test("deltas that copy from anywhere, in any order, of bases of every kind", { tags: "sweep" }, async () => {
  const random = new Random(21);
  const base = makeObject("blob", Buffer.from(random.bytes(3 * MIB)).fill("text ", MIB, 2 * MIB));
  const blobs = [base];
  const entries = [encodeEntry(base)];
  for (let i = 0; i < 8; i++) {
    const from = blobs[random.below(blobs.length)]!;
    const parts: Buffer[] = [];
    const instructions: Buffer[] = [];
    for (let k = 0; k < 40; k++) {
      if (random.below(4) === 0) {
        const text = Buffer.from(random.bytes(1 + random.below(127)));
        parts.push(text);
        instructions.push(insert(text));
        continue;
      }
      const size = Math.min(from.content.length, 1 + random.below(k % 5 === 0 ? MIB : 3_000));
      const at = random.below(from.content.length - size + 1);
      parts.push(from.content.subarray(at, at + size));
      instructions.push(copy(at, size));
    }
    const blob = makeObject("blob", Buffer.concat(parts));
    blobs.push(blob);
    entries.push(
      encodeEntry(refDelta(from.oid, encodeDelta(from.content.length, blob.content.length, ...instructions))),
    );
  }
  const repository = newRepository();
  // The base comes last: no delta can be resolved before.
  expect(await pushBlobs(repository, blobs, entries.toReversed())).toMatchObject({ unpack: "ok" });
  expect(await checkClone(repository)).toBe(11);
});

test("what is malformed in a large delta refuses the push, and leaves nothing", async () => {
  const base = makeObject("blob", Buffer.alloc(2 * MIB, "base of a delta "));
  const size = base.content.length;
  const wanted = makeObject("blob", Buffer.concat([base.content, Buffer.from("x")]));
  const all = [copy(0, size)];
  const malformed: Record<string, Buffer> = {
    "another base": encodeDelta(size + 1, size + 1, ...all, insert("x")),
    "copies from behind the end": encodeDelta(size, size + 1, copy(1, size), insert("x")),
    "makes more": encodeDelta(size, size, ...all, insert("x")),
    "makes fewer": encodeDelta(size, size + 2, ...all, insert("x")),
    "reserved instruction": encodeDelta(size, size + 1, ...all, insert("x"), Buffer.from([0])),
    "cut in an insertion": encodeDelta(size, size + 1, ...all, Buffer.from([2, 0x78])),
    "cut in a copy": encodeDelta(size, size + 1, Buffer.from([0x9f, 1])),
    nothing: Buffer.alloc(0),
    "a size without end": Buffer.alloc(40, 0xff),
  };
  for (const [name, delta] of Object.entries(malformed)) {
    const repository = newRepository();
    const result = await pushBlobs(
      repository,
      [base, wanted],
      [encodeEntry(base), encodeEntry(refDelta(base.oid, delta))],
    );
    expect(result.unpack, name).toMatch(/malformed|overflows|cut short/);
    expect(repository.refs().size, name).toBe(0);
  }
});

test("copies to and fro, and small pushes of much, end at the limit of a push's work", { tags: "sweep" }, async () => {
  const random = new Random(4);
  const base = makeObject("blob", Buffer.from(random.bytes(20 * MIB)).fill("to and fro ", 0, 19 * MIB));
  const far = Array.from({ length: 4_000 }, (_, i) => copy(((i * 7) % 19) * MIB, 1));
  const toAndFro = refDelta(base.oid, encodeDelta(base.content.length, 4_000, ...far));
  const small = makeObject("blob", Buffer.alloc(HELD, "small "));
  const much = refDelta(small.oid, encodeDelta(HELD, 512 * HELD, ...Array.from({ length: 512 }, () => copy(0, HELD))));
  const limits = { maxPushWorkBytes: 100_000_000 };
  for (const [held, delta] of [
    [base, toAndFro],
    [small, much],
  ] as const) {
    const result = await pushBlobs(newRepository(limits), [held], [encodeEntry(held), encodeEntry(delta)]);
    expect(result.unpack).toMatch(/work of the push .* exceeds the limit of 100000000/);
  }
});
