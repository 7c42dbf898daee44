// As many items of a kind as fit in a push, where a few are usual: lists of them must not be spread
// onto the stack, nor searched once for each item.
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { listDirectory } from "../../src/repository/files/list-files.ts";
import { blame } from "../../src/repository/history/blame.ts";
import { log } from "../../src/repository/history/log.ts";
import { mergeBase } from "../../src/repository/history/merge-base.ts";
import { OpenRepository } from "../../src/repository/objects/open-repository.ts";
import { resolve } from "../../src/repository/objects/revision.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { assemblePack, makeCommit, type MadeObject, makeObject, makeTag, makeTree } from "../harness/pack-builder.ts";
import { measureCpu } from "../harness/measure-cpu.ts";
import { encodeEntry } from "../harness/raw.ts";
import { ANYONE } from "../harness/requester.ts";
import { CLONE_REQUEST, plannedPack } from "./clone-request.ts";
import { type HexCommand, PushedRepository } from "./pushing.ts";
import { fromHex } from "./stored-repository.ts";

const BLOB = makeObject("blob", "text\n");
const TREE = makeTree(["100644", "file", BLOB]);

/** More arguments than a call may have. */
const MANY = 130_000;

const roots = Array.from({ length: MANY }, (_, i) => makeCommit(TREE, [], `${i}\n`));

/** Packed entries, to be reused: there are many. */
const ENTRIES = new WeakMap<MadeObject, Buffer>();

function packOf(objects: readonly MadeObject[]): Buffer {
  return assemblePack(
    objects.map((object) => {
      // A small window: setting up the default one takes longer than deflating so little.
      const compressed = () => deflateSync(object.content, { windowBits: 9, memLevel: 1 });
      const entry = ENTRIES.get(object) ?? encodeEntry({ ...object, compressed: compressed() });
      ENTRIES.set(object, entry);
      return entry;
    }),
  );
}

function open({ repository }: PushedRepository): OpenRepository {
  return new OpenRepository(repository.state, ANYONE, async () => undefined);
}

async function push(
  repository: PushedRepository,
  refs: Readonly<Record<string, MadeObject>>,
  objects: readonly MadeObject[],
): Promise<void> {
  const commands = Object.entries(refs).map(([name, { oid }]): HexCommand => [name, null, oid]);
  const pushed = await repository.push(commands, packOf(objects));
  expect(pushed.unpack).toBe("ok");
  expect(pushed.refs.filter(({ error }) => error !== null)).toEqual([]);
}

test("130,000 commits that need one missing tree", async () => {
  const repository = new PushedRepository();
  const refused = await repository.push([["refs/heads/main", null, roots[0]!.oid]], packOf(roots));
  expect(refused).toEqual({
    unpack: "ok",
    refs: [{ name: "refs/heads/main", error: `missing necessary objects: ${TREE.oid}` }],
  });
  await push(repository, { "refs/heads/main": roots[0]! }, [BLOB, TREE, roots[0]!]);
}, 300_000);

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
  await push(repository, { "refs/heads/main": merge, "refs/heads/fork": fork }, [BLOB, TREE, ...roots, merge, fork]);
  const opened = open(repository);
  const filter = { path: "file", since: null, until: null, author: null, firstParent: false, follow: false };
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
}, 300_000);

test("8,000 tags of each other, a ref at each", async () => {
  const repository = new PushedRepository();
  const commit = makeCommit(TREE);
  const tags: MadeObject[] = [];
  for (let i = 0; i < 8_000; i++) tags.push(makeTag(tags.at(-1) ?? commit, i === 0 ? "commit" : "tag", `t${i}`));
  const refs = Object.fromEntries(tags.map((tag, i) => [`refs/tags/t${i}`, tag]));
  const [, pushMs] = await measureCpu(() =>
    push(repository, { ...refs, "refs/heads/main": commit }, [BLOB, TREE, commit, ...tags]),
  );
  const wants = fromHex(tags.map(({ oid }) => oid).join(""));
  for (const request of [{ wants }, { wants: fromHex(commit.oid), includeTag: true }]) {
    const [outcome, ms] = await measureCpu(() => repository.repository.fetch({ ...CLONE_REQUEST, ...request }));
    expect(plannedPack(outcome).objectCount).toBe(8_003);
    expect(ms).toBeLessThan(3_000);
  }
  expect(await resolve(open(repository), "t7999")).toEqual({
    oid: tags.at(-1)!.oid,
    type: "tag",
    commit: commit.oid,
  });
  expect(pushMs).toBeLessThan(20_000);
}, 300_000);

test("a stored tree of 1,600 levels that a push brings back", async () => {
  const repository = new PushedRepository();
  const levels = [makeTree(["100644", "file", BLOB])];
  for (let i = 0; i < 1_600; i++) levels.push(makeTree(["40000", "d", levels.at(-1)!]));
  const first = makeCommit(levels.at(-1)!);
  await push(repository, { "refs/heads/main": first }, [BLOB, ...levels, first]);
  const again = makeCommit(makeTree(["40000", "e", levels.at(-1)!]));
  const root = makeTree(["40000", "e", levels.at(-1)!]);
  let transactions = 0;
  const { platform } = repository.repository.state;
  const transactor = platform.transactor;
  Object.assign(platform, {
    transactor: {
      transactionSync: <T>(f: () => T): T => {
        transactions += 1;
        return transactor.transactionSync(f);
      },
    },
  });
  await push(repository, { "refs/heads/again": again }, [root, again]);
  // Formerly one for each level.
  expect(transactions).toBeLessThan(20);
  const [pack] = [await repository.clone(again.oid)];
  const dir = await makeRepository("deep.git", "--bare");
  expect((await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack })).stderr).toBe("");
  expect(await git(dir, "cat-file", "-t", levels[0]!.oid)).toBe("tree");
}, 300_000);

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
  const [, ms] = await measureCpu(() => push(repository, refs(fits.tips), fits.objects));
  // 450,000 rows, one by one, took 6 s.
  expect(ms).toBeLessThan(6_000);
  // Formerly each was compared with all earlier ones, for each file.
  const thin = makeOrphans(5_000, 80);
  const [, thinMs] = await measureCpu(() =>
    push(new PushedRepository(), { "refs/heads/o": thin.tips[0]! }, thin.objects),
  );
  expect(thinMs).toBeLessThan(8_000);
  const beyond = makeOrphans(800, 801);
  const refused = await new PushedRepository().push(
    [["refs/heads/main", null, beyond.tips[0]!.oid]],
    packOf(beyond.objects),
  );
  expect(refused.unpack).toMatch(
    /^what unrelated commits of one push share .* exceeds the limit of 500000: push fewer branches/,
  );
  // Other cases with the same result: fewer at a time.
  const some = makeOrphans(2, 900);
  await push(repository, { "refs/heads/other": some.tips[0]! }, some.objects);
}, 300_000);
