import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "vitest";
import { toHex } from "../../../src/base/format/oid.ts";
import { ObjectReader } from "../../../src/object/objects/object-reader.ts";
import type { FileChanges } from "../../../src/object/store/jobs/file-changes.ts";
import { findChangedFiles } from "../../../src/object/worktree/changed-files.ts";
import { makeCommit, type MadeObject, makeObject, makeWideTree, packOf } from "../../harness/pack-builder.ts";
import { PushedRepository } from "../pushing.ts";
import { fromHex, nodeCodec } from "../stored-repository.ts";

const ENTRIES = 100_000;

/** What all changes may take; an object for each took 300 bytes. */
const BYTES_PER_CHANGE = 60;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function readMemory(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const blob = makeObject("blob", "content\n");
const names = Array.from({ length: ENTRIES }, (_, i) => String(i).padStart(6, "0"));
const tree = makeWideTree(names.map((name) => ["100644", name, blob]));
const repository = new PushedRepository();

beforeAll(async () => {
  const commit = makeCommit(tree);
  await repository.push([["refs/heads/main", null, commit.oid]], packOf(blob, tree, commit));
});

const numberOf = ({ oid }: MadeObject): number => repository.tables.objects.find(fromHex(oid))!.number;

test("the changes of a directory with very many entries are kept as bytes", async () => {
  const { objects } = repository.tables;
  const find = (): Promise<FileChanges> =>
    findChangedFiles(
      new ObjectReader(repository.tables, repository.chunks, nodeCodec),
      objects,
      0,
      numberOf(tree),
      Infinity,
    );
  // What is cached from then on is no part of the changes.
  await find();
  const before = readMemory();
  const changes = await find();
  expect(readMemory() - before).toBeLessThan(ENTRIES * BYTES_PER_CHANGE);
  const lines = Array.from(changes, ({ path, file }) => `${path} ${file!.mode} ${file!.sizeBytes} ${toHex(file!.oid)}`);
  expect(lines).toEqual(names.map((path) => `${path} ${0o100644} ${blob.content.length} ${blob.oid}`));
});

test("a change of very many files is planned some thousands at a time", () => {
  const { worktrees } = repository.tables;
  const content = { mode: 0o100644, oid: fromHex(blob.oid), sizeBytes: blob.content.length };
  const file = { source: numberOf(blob), ...content };
  const { id } = worktrees.add("main");
  const before = readMemory();
  let most = 0;
  const changes = Iterator.from(names).map((path, i) => {
    if (i % 5_000 === 4_999) most = Math.max(most, readMemory() - before);
    return { path, file };
  });
  worktrees.plan(id, 1, changes);
  expect(most).toBeLessThan(ENTRIES * BYTES_PER_CHANGE);
  expect(worktrees.get("main")).toMatchObject({ files: ENTRIES, pending: ENTRIES, planned: 1 });
  expect(worktrees.paths(id)).toEqual(names);
});
