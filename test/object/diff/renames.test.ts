import { afterAll, beforeAll, expect, test } from "vitest";
import { fromHex } from "../../../src/base/format/oid.ts";
import type { FileChange } from "../../../src/object/diff/file-change.ts";
import { findRenames, type RenameBlobs, type RenameOptions } from "../../../src/object/diff/renames.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { DiskDiff } from "./disk-diff.ts";
import { editLines, randomLines } from "./random-texts.ts";
import { commitSnapshots, type SnapshotFile } from "./snapshots.ts";

const PAIRS = 15;
const NAMES = ["a.c", "b.c", "index.js", "README", "Makefile"];

/** A few texts and many variants of them, so that each file has several likely sources. */
function randomFiles(random: Random, originals: readonly (readonly string[])[]): Record<string, SnapshotFile> {
  const files: Record<string, SnapshotFile> = {};
  for (let i = 0; i < 20 + random.below(60); i++) {
    const lines = editLines(random, random.pick(originals), random.below(4), 200);
    const newline = random.pick(["\n", "\n", "\r\n"]);
    const content = random.below(15) === 0 ? "" : lines.join(newline) + random.pick(["", newline]);
    const name = random.below(2) === 0 ? random.pick(NAMES) : `file-${random.below(60)}`;
    files[`${random.pick(["src", "lib", "src/deep", "x"])}/${random.below(3)}/${name}`] = [
      content,
      random.pick(["100644", "100644", "100755", "120000"]),
    ];
  }
  return files;
}

let dir: string;
let diff: DiskDiff;

beforeAll(async () => {
  dir = await makeRepository("renames", "--bare");
  const random = new Random(5);
  const snapshots: Record<string, Record<string, SnapshotFile>> = {};
  for (let i = 0; i < PAIRS; i++) {
    const originals = Array.from({ length: 4 }, () => randomLines(random, 1 + random.below(40), 200));
    snapshots[`old-${i}`] = randomFiles(random, originals);
    snapshots[`new-${i}`] = randomFiles(random, originals);
  }
  await commitSnapshots(dir, snapshots);
  diff = new DiskDiff(dir);
});

afterAll(() => diff.close());

test("the renames are those that git finds, with the same similarity", async () => {
  let renames = 0;
  for (let i = 0; i < PAIRS; i++) {
    const { stdoutBytes } = await tryGit(dir, ["diff", "-M", "--full-index", "--no-color", `old-${i}`, `new-${i}`]);
    const expected = stdoutBytes.toString("latin1");
    expect((await diff.compare(`old-${i}`, `new-${i}`)).patch.toString("latin1"), `pair ${i}`).toBe(expected);
    renames += expected.match(/^rename to /gm)?.length ?? 0;
  }
  expect(renames).toBeGreaterThan(100);
});

const TEXTS = ["", "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfive\n", "one\ntwo\nthree\nsix\n"];
const OPTIONS: RenameOptions = { maxFiles: 10, maxBlobBytes: 100, maxReadBytes: 1_000, matchesEmpty: true };

/** Finds renames among files, each given as path and index of its text. */
async function find(
  deleted: Record<string, number>,
  added: Record<string, number>,
  options: Partial<RenameOptions> = {},
) {
  const version = (number: number) => ({
    mode: 0o100644,
    number,
    oid: fromHex(number === 0 ? "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391" : String(number).repeat(40)),
  });
  const change = ([path, number]: [string, number], isOld: boolean): FileChange => ({
    oldPath: path,
    path,
    old: isOld ? version(number) : null,
    next: isOld ? null : version(number),
    similarity: null,
  });
  const blobs: RenameBlobs = {
    sizes: (numbers) => new Map(numbers.map((number) => [number, TEXTS[number]!.length])),
    async *read(numbers) {
      for (const number of numbers) yield [number, Buffer.from(TEXTS[number]!)];
    },
    pause: () => Promise.resolve(),
  };
  const files = [
    ...Object.entries(deleted).map((file) => change(file, true)),
    ...Object.entries(added).map((file) => change(file, false)),
  ];
  const { changes, isLimited } = await findRenames(files, blobs, { ...OPTIONS, ...options });
  const renames = changes.filter(({ similarity }) => similarity !== null);
  return { renames: renames.map(({ oldPath, path, similarity }) => `${oldPath} ${path} ${similarity}`), isLimited };
}

test("where the limits are reached, renames of the same content are still found", async () => {
  const edited = [
    { a: 1, b: 2, c: 1 },
    { d: 1, e: 3, f: 3 },
  ] as const;
  expect(await find(...edited, { maxFiles: 1 })).toEqual({ renames: ["a d 100"], isLimited: true });
  expect(await find(...edited, { maxReadBytes: 10 })).toEqual({ renames: ["a d 100"], isLimited: true });
  expect(await find(...edited, { maxBlobBytes: 10 })).toEqual({ renames: ["a d 100"], isLimited: false });
  expect((await find(...edited)).renames).toHaveLength(3);
});

test("empty files are renamed in a diff, not in a merge", async () => {
  expect((await find({ a: 0 }, { b: 0 })).renames).toEqual(["a b 100"]);
  expect((await find({ a: 0 }, { b: 0 }, { matchesEmpty: false })).renames).toEqual([]);
});
