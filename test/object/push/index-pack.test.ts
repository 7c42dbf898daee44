import { expect, test } from "vitest";
import { makeCommit, makeObject, makeTree, type MadeObject, packOf } from "../../harness/pack-builder.ts";
import { HOT_PUSH_BYTES, STREAM_THRESHOLD_BYTES } from "../../../src/base/format/limits.ts";
import { PushedRepository } from "../pushing.ts";

/** A tree of submodules, each at a commit of its own: its names take much memory and few bytes. */
function makeWideTree(count: number): MadeObject {
  const entries = Array.from({ length: count }, (_, i) => {
    const digits = String(i).padStart(10, "0");
    return `160000 ${digits}\0${digits}${digits}`;
  });
  return makeObject("tree", entries.join(""));
}

// The commit needs permission in the step in which names and blob outgrow a small push's memory.
test("a commit above 1 MiB arrives when what is before it takes the memory of a small push", async () => {
  const wide = makeWideTree(27_000);
  const blob = makeObject("blob", "a".repeat(STREAM_THRESHOLD_BYTES));
  const root = makeTree(["100644", "blob", blob], ["40000", "wide", wide]);
  const commit = makeCommit(root, [], "a".repeat(2 * STREAM_THRESHOLD_BYTES));
  const pack = packOf(wide, blob, root, commit);
  expect(pack.length).toBeLessThan(HOT_PUSH_BYTES);
  const pushed = await new PushedRepository().push([["refs/heads/main", null, commit.oid]], pack);
  expect(pushed).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/main", error: null }] });
});
