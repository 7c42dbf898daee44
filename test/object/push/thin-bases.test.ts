import { expect, test } from "vitest";
import { NULL_OID } from "../../../src/base/format/oid.ts";
import {
  assemblePack,
  insertAll,
  makeCommit,
  makeObject,
  makeTree,
  packOf,
  refDelta,
} from "../../harness/pack-builder.ts";
import { encodeEntry } from "../../harness/raw.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../pushing.ts";
import { fromHex } from "../stored-repository.ts";

const FILES = 2_000;

/** Steps after which other requests run, at the latest. */
const SLICE_STEPS = 256;

test("others are served while a thin pack's bases are read", { tags: "sweep" }, async () => {
  const repository = new PushedRepository();
  const makeFiles = (text: string) =>
    Array.from({ length: FILES }, (_, i) => makeObject("blob", Buffer.from(`${text} ${i}\n`)));
  const makeRoot = (files: ReturnType<typeof makeFiles>) =>
    makeTree(...files.map((file, i) => ["100644", `file-${String(i).padStart(4, "0")}`, file] as const));
  const [before, after] = [makeFiles("before"), makeFiles("after")];
  const [first, second] = [makeRoot(before), makeRoot(after)];
  const root = makeCommit(first, [], "first\n");
  await repository.push([["refs/heads/main", null, root.oid]], packOf(...before, first, root));
  const tip = makeCommit(second, [root.oid], "second\n");
  const deltas = after.map((file, i) =>
    encodeEntry(refDelta(before[i]!.oid, insertAll(before[i]!.content.length, file.content))),
  );
  const pack = assemblePack([...deltas, encodeEntry(second), encodeEntry(tip)]);
  let steps = 0;
  let most = 0;
  let isOver = false;
  const turn = (): void => {
    most = Math.max(most, steps);
    steps = 0;
    if (!isOver) setImmediate(turn);
  };
  turn();
  const pieces = [pack];
  await repository.repository.receive({
    commands: [{ name: "refs/heads/next", old: NULL_OID, new: fromHex(tip.oid) }],
    atomic: false,
    pushOptions: [],
    shallow: [],
    pack: { read: async () => pieces.shift() ?? null },
    agent: null,
    requester: ANYONE,
    progress: () => void (steps += 1),
  });
  isOver = true;
  most = Math.max(most, steps);
  expect(repository.refs().get("refs/heads/next")).toBe(tip.oid);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(SLICE_STEPS + 1);
});
