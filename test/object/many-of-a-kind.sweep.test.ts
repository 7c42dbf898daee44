// As many items of a kind as fit in a push, where a few are usual: lists of them must not be spread
// onto the stack, nor compared with each other.
import { expect, test } from "vitest";
import { listDirectory } from "../../src/object/files/list-files.ts";
import { blame } from "../../src/object/history/blame.ts";
import { log } from "../../src/object/history/log.ts";
import { mergeBase } from "../../src/object/history/merge-base.ts";
import { OpenRepository } from "../../src/object/objects/open-repository.ts";
import { measureCpu } from "../harness/measure-cpu.ts";
import { makeCommit, type MadeObject, makeObject, makeTree } from "../harness/pack-builder.ts";
import { ANYONE } from "../harness/requester.ts";
import { BLOB, packMany, pushMany, TREE } from "./many-objects.ts";
import { PushedRepository } from "./pushing.ts";

/** More arguments than a call may have. */
const MANY = 130_000;

const roots = Array.from({ length: MANY }, (_, i) => makeCommit(TREE, [], `${i}\n`));

test("130,000 commits that need one missing tree", async () => {
  const repository = new PushedRepository();
  const refused = await repository.push([["refs/heads/main", null, roots[0]!.oid]], packMany(roots));
  expect(refused).toEqual({
    unpack: "ok",
    refs: [{ name: "refs/heads/main", error: `missing necessary objects: ${TREE.oid}` }],
  });
  await pushMany(repository, { "refs/heads/main": roots[0]! }, [BLOB, TREE, roots[0]!]);
});

test("a merge of 130,000 commits", async () => {
  const repository = new PushedRepository();
  const merge = makeCommit(
    TREE,
    roots.map(({ oid }) => oid),
  );
  const fork = makeCommit(
    TREE,
    roots.slice(0, 3).map(({ oid }) => oid),
  );
  await pushMany(repository, { "refs/heads/main": merge, "refs/heads/fork": fork }, [
    BLOB,
    TREE,
    ...roots,
    merge,
    fork,
  ]);
  const opened = new OpenRepository(repository.repository.state, ANYONE, async () => undefined);
  const filter = {
    path: "file",
    since: null,
    until: null,
    author: null,
    text: null,
    ignoreCase: false,
    firstParent: false,
    follow: false,
  };
  const page = await log(opened, { ...filter, ref: "main", place: null, limit: 3 });
  // The first parent has the same.
  expect(page.commits.map(({ oid }) => oid)).toEqual([roots[0]!.oid]);
  expect((await blame(opened, { commit: "main", path: "file", lines: null })).commits).toHaveLength(1);
  const { lastCommits } = await listDirectory(opened, { ref: "main", path: "", lastCommits: true });
  expect(lastCommits!.commits.map(({ oid }) => oid)).toEqual([roots[0]!.oid]);
  const bases = await mergeBase(opened, { base: "main", heads: ["fork"] });
  expect(bases.mergeBases.toSorted()).toEqual(
    roots
      .slice(0, 3)
      .map(({ oid }) => oid)
      .toSorted(),
  );
});

/** Commits without parents. The root of each has a subtree of so many files, and a file of its
 * own. */
function makeOrphans(commits: number, files: number): { tips: MadeObject[]; objects: MadeObject[] } {
  const blobs = Array.from({ length: files }, (_, i) => makeObject("blob", `${i}\n`));
  const shared = makeTree(...blobs.map((blob, i) => ["100644", String(i).padStart(6, "0"), blob] as const));
  const objects = [...blobs, shared];
  const tips = Array.from({ length: commits }, (_, i) => {
    const own = makeObject("blob", `own ${i}\n`);
    const root = makeTree(["100644", "own", own], ["40000", "shared", shared]);
    const tip = makeCommit(root, [], `${i}\n`);
    objects.push(own, root, tip);
    return tip;
  });
  return { tips, objects };
}

test("unrelated commits that share many files", async () => {
  const repository = new PushedRepository();
  const fits = makeOrphans(500, 900);
  const refs = (tips: readonly MadeObject[]) => Object.fromEntries(tips.map((tip, i) => [`refs/heads/o${i}`, tip]));
  const [, ms] = await measureCpu(() => pushMany(repository, refs(fits.tips), fits.objects));
  // 450,000 rows, one by one, took 6 s.
  expect(ms).toBeLessThan(6_000);
  // Formerly each was compared with all earlier ones, for each file.
  const thin = makeOrphans(5_000, 80);
  const [, thinMs] = await measureCpu(() =>
    pushMany(new PushedRepository(), { "refs/heads/o": thin.tips[0]! }, thin.objects),
  );
  expect(thinMs).toBeLessThan(8_000);
  const beyond = makeOrphans(800, 801);
  const refused = await new PushedRepository().push(
    [["refs/heads/main", null, beyond.tips[0]!.oid]],
    packMany(beyond.objects),
  );
  expect(refused.unpack).toMatch(
    /^what unrelated commits of one push share .* exceeds the limit of 500000: push fewer branches/,
  );
  // Other cases with the same result: fewer at a time.
  const some = makeOrphans(2, 900);
  await pushMany(repository, { "refs/heads/other": some.tips[0]! }, some.objects);
});
