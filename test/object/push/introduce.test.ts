// What each commit introduces, in real pushes of random histories, compared with whole closures as
// git lists them.
import { expect, test } from "vitest";
import type { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { toHex } from "../../../src/base/format/oid.ts";
import type { Tables } from "../../../src/object/store/tables.ts";
import { Random } from "../../harness/random.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeCommit, makeObject, makeTag, makeTree, packOf } from "../../harness/pack-builder.ts";
import { testSome } from "../../harness/sweep.ts";
import { PushedRepository } from "../pushing.ts";

/** A directory: names to contents of files, or directories. */
type Directory = Map<string, string | Directory>;

/** Makes histories with every kind of change; every commit gets a ref `c<n>`. */
class Histories {
  readonly #random: Random;
  readonly #stream: string[] = [];
  readonly #trees: Directory[] = [];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  write(commits: number): string {
    for (let i = 0; i < commits; i++) this.#commit();
    return this.#stream.join("");
  }

  #commit(): void {
    const number = this.#trees.length;
    const wanted = this.#random.pick([1, 1, 1, 1, 1, 1, 2, 2, 3]);
    const roots = number === 0 || this.#random.below(14) === 0;
    const parents = roots ? [] : [...new Set(Array.from({ length: wanted }, () => this.#recent()))];
    const tree = parents.length === 0 ? new Map() : copyOf(this.#trees[parents[0]!]!);
    for (const parent of parents.slice(1)) mergeInto(tree, this.#trees[parent]!, this.#random);
    this.#change(tree);
    this.#trees.push(tree);
    const lines = [
      `commit refs/heads/c${number}\nmark :${number + 1}\ncommitter A <a@example.com> ${1_700_000_000 + number} +0000\n`,
    ];
    lines.push(`data 2\nm\n`);
    parents.forEach((parent, i) => lines.push(`${i === 0 ? "from" : "merge"} :${parent + 1}\n`));
    lines.push("deleteall\n", ...listFiles(tree, ""), "\n");
    this.#stream.push(lines.join(""));
  }

  #recent(): number {
    const count = this.#trees.length;
    return this.#random.below(3) === 0 ? this.#random.below(count) : Math.max(0, count - 1 - this.#random.below(4));
  }

  /** Edits, adds, deletes, or brings back something from anywhere in the history: reverts,
   * cherry-picks, moved subtrees. */
  #change(tree: Directory): void {
    const random = this.#random;
    const directory = (): Directory => {
      let at = tree;
      for (let depth = random.below(3); depth > 0; depth--) {
        const name = `dir${random.below(3)}`;
        if (!(at.get(name) instanceof Map)) at.set(name, new Map());
        at = at.get(name) as Directory;
      }
      return at;
    };
    for (let i = random.below(4); i > 0; i--) {
      switch (random.below(6)) {
        case 0: {
          const at = directory();
          at.delete([...at.keys()][0] ?? "");
          break;
        }
        case 1:
          tree.clear();
          for (const [name, entry] of copyOf(this.#trees[random.below(Math.max(1, this.#trees.length))] ?? new Map()))
            tree.set(name, entry);
          break;
        case 2: {
          const other = this.#trees[random.below(Math.max(1, this.#trees.length))] ?? new Map();
          const moved = [...other.values()].find((entry) => entry instanceof Map);
          if (moved !== undefined) directory().set(`dir${random.below(3)}`, copyOf(moved as Directory));
          break;
        }
        // Few contents, so that the same blob is made again elsewhere.
        default:
          directory().set(`file${random.below(4)}`, `content ${random.below(25)}\n`);
      }
    }
  }
}

function copyOf(directory: Directory): Directory {
  return new Map([...directory].map(([name, entry]) => [name, entry instanceof Map ? copyOf(entry) : entry]));
}

function mergeInto(tree: Directory, other: Directory, random: Random): void {
  for (const [name, entry] of other)
    if (!tree.has(name) || random.below(3) === 0) tree.set(name, entry instanceof Map ? copyOf(entry) : entry);
}

function listFiles(directory: Directory, path: string): string[] {
  return [...directory].flatMap(([name, entry]) =>
    entry instanceof Map
      ? listFiles(entry, `${path}${name}/`)
      : [`M 100644 inline ${path}${name}\ndata ${entry.length}\n${entry}\n`],
  );
}

async function closureOf(dir: string, revision: string): Promise<Set<string>> {
  const listed = await git(dir, "rev-list", "--objects", "--no-object-names", revision);
  return new Set(listed.split("\n"));
}

/** Ids of everything that `wanted` reaches and `had` does not, according to the tables. */
function between(tables: Tables, wanted: readonly string[], had: readonly string[]): string[] {
  const { graph, objects, reachability } = tables;
  const ancestors = (oids: readonly string[]) =>
    graph.ancestors(oids.map((oid) => graph.position(objects.find(Buffer.from(oid, "hex"))!.number)));
  return oidsOf(tables, reachability.between(ancestors(wanted), ancestors(had)));
}

function oidsOf({ objects }: Tables, numbers: NumberSet): string[] {
  const { oid, number } = objects.locate(numbers);
  return Array.from(number, (_, i) => toHex(oid, i * 20)).sort();
}

/** Compares pairs of nodes: as the repository has them in memory, and as read from its rows. */
function expectExact(
  repository: PushedRepository,
  closures: ReadonlyMap<string, Set<string>>,
  pairs: readonly (readonly [string[], string[]])[],
): void {
  const fresh = repository.reopen();
  for (const [wanted, had] of pairs) {
    const present = new Set(had.flatMap((oid) => [...closures.get(oid)!]));
    const all = new Set(wanted.flatMap((oid) => [...closures.get(oid)!]));
    const expected = [...all].filter((oid) => !present.has(oid)).sort();
    for (const tables of [repository.tables, fresh]) expect(between(tables, wanted, had)).toEqual(expected);
  }
}

const seeds = Array.from({ length: 6 }, (_, i) => i + 1);

testSome(1, seeds, "history %i, pushed in several steps, any commits", async (seed) => {
  const dir = await makeRepository("history.git", "--bare");
  const history = new Histories(seed);
  const imported = await tryGit(dir, ["fast-import", "--quiet"], { stdin: history.write(45) });
  expect(imported.stderr).toBe("");
  const random = new Random(seed + 100);
  const repository = new PushedRepository();
  const commits = (await git(dir, "for-each-ref", "--format=%(objectname)", "--sort=version:refname")).split("\n");
  const order = random.below(2) === 0 ? [...commits.keys()] : [...commits.keys()].sort(() => random.below(3) - 1);
  for (let at = 0; at < order.length;) {
    const step = order.slice(at, (at += 1 + random.below(12)));
    const result = await repository.pushFrom(
      dir,
      Object.fromEntries(step.map((i) => [`refs/heads/c${i}`, commits[i]!])),
    );
    expect(result.unpack).toBe("ok");
    expect(result.refs.map(({ error }) => error)).toEqual(step.map(() => null));
  }
  const closures = new Map<string, Set<string>>();
  for (const commit of new Set(commits)) closures.set(commit, await closureOf(dir, commit));
  const some = (most: number): string[] => Array.from({ length: random.below(most + 1) }, () => random.pick(commits));
  const pairs = Array.from({ length: 150 }, () => [[random.pick(commits), ...some(2)], some(3)] as const);
  expectExact(
    repository,
    closures,
    pairs.map(([wanted, had]) => [[...wanted], [...had]]),
  );
});

test("objects that nothing referred to are adopted by what does later, trees with all below them", async () => {
  const blob = makeObject("blob", "waiting\n");
  const inner = makeTree(["100644", "file", blob]);
  const outer = makeTree(["40000", "inner", inner]);
  const root = makeCommit(makeTree(["100644", "other", makeObject("blob", "root\n")]));
  const rootObjects = [makeObject("blob", "root\n"), makeTree(["100644", "other", makeObject("blob", "root\n")]), root];
  const repository = new PushedRepository();
  await repository.push([["refs/heads/main", null, root.oid]], packOf(blob, inner, outer, ...rootObjects));
  expect(oidsOf(repository.tables, repository.tables.objects.unintroduced())).toEqual(
    [blob.oid, inner.oid, outer.oid].sort(),
  );

  const child = makeCommit(outer, [root.oid]);
  expect(await repository.push([["refs/heads/main", root.oid, child.oid]], packOf(child))).toMatchObject({
    refs: [{ error: null }],
  });
  expect(repository.tables.objects.hasUnintroduced()).toBe(false);
  expect(between(repository.tables, [child.oid], [root.oid])).toEqual(
    [child.oid, outer.oid, inner.oid, blob.oid].sort(),
  );
  expect(between(repository.tables, [root.oid], [])).toEqual(rootObjects.map(({ oid }) => oid).sort());
});

test("a subtree of another, unmerged branch is read, and what is below it counts again", async () => {
  const blob = makeObject("blob", "shared\n");
  const inner = makeTree(["100644", "file", blob]);
  const outer = makeTree(["40000", "inner", inner]);
  const left = makeCommit(makeTree(["40000", "left", outer]));
  const repository = new PushedRepository();
  await repository.push(
    [["refs/heads/left", null, left.oid]],
    packOf(blob, inner, outer, makeTree(["40000", "left", outer]), left),
  );
  const right = makeCommit(makeTree(["40000", "right", outer]), [], "Right\n");
  const pushed = await repository.push(
    [["refs/heads/right", null, right.oid]],
    packOf(makeTree(["40000", "right", outer]), right),
  );
  expect(pushed.refs).toEqual([{ name: "refs/heads/right", error: null }]);
  const rightTree = makeTree(["40000", "right", outer]).oid;
  expect(between(repository.tables, [right.oid], [])).toEqual(
    [right.oid, rightTree, outer.oid, inner.oid, blob.oid].sort(),
  );
  expect(between(repository.tables, [right.oid], [left.oid])).toEqual([right.oid, rightTree].sort());
  expect(between(repository.tables, [left.oid, right.oid], [right.oid])).toEqual(
    [left.oid, makeTree(["40000", "left", outer]).oid].sort(),
  );
});

test("refs to blobs and trees, tags of tags, of trees and of blobs", async () => {
  const blob = makeObject("blob", "pointed at\n");
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree);
  const tag = makeTag(commit, "commit", "one");
  const tagOfTag = makeTag(tag, "tag", "two");
  const tagOfTree = makeTag(tree, "tree", "three");
  const other = makeObject("blob", "tagged only\n");
  const tagOfBlob = makeTag(other, "blob", "four");
  const repository = new PushedRepository();
  const first = await repository.push(
    [
      ["refs/tags/blob", null, blob.oid],
      ["refs/tags/two", null, tagOfTag.oid],
    ],
    packOf(tagOfTag, tag, commit, tree, blob),
  );
  const second = await repository.push(
    [
      ["refs/tags/tree", null, tree.oid],
      ["refs/tags/three", null, tagOfTree.oid],
      ["refs/tags/four", null, tagOfBlob.oid],
    ],
    packOf(tagOfTree, tagOfBlob, other),
  );
  expect([...first.refs, ...second.refs].map(({ error }) => error)).toEqual([null, null, null, null, null]);
  const closures = new Map([
    [blob.oid, new Set([blob.oid])],
    [tree.oid, new Set([tree.oid, blob.oid])],
    [commit.oid, new Set([commit.oid, tree.oid, blob.oid])],
    [tagOfTag.oid, new Set([tagOfTag.oid, tag.oid, commit.oid, tree.oid, blob.oid])],
    [tagOfTree.oid, new Set([tagOfTree.oid, tree.oid, blob.oid])],
    [tagOfBlob.oid, new Set([tagOfBlob.oid, other.oid])],
  ]);
  const nodes = [...closures.keys()];
  const pairs = nodes.flatMap((wanted) => [[], ...nodes.map((had) => [had])].map((had) => [[wanted], had] as const));
  expectExact(
    repository,
    closures,
    pairs.map(([wanted, had]) => [[...wanted], [...had]]),
  );
  const peeled = [tagOfTag.oid, tagOfTree.oid, tagOfBlob.oid, tree.oid].map((oid) => {
    const name = [...repository.refs()].find(([, value]) => value === oid)![0];
    const ref = repository.tables.refs.get(name)!;
    return ref.peeled === null ? null : toHex(ref.peeled);
  });
  expect(peeled).toEqual([commit.oid, tree.oid, other.oid, null]);
});
