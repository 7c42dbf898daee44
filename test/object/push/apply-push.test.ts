import { beforeEach, describe, expect, test } from "vitest";
import { EMPTY_INDEX } from "../../../src/base/codec/pack-index.ts";
import { PushedObjects } from "../../../src/object/push/pushed-objects.ts";
import { FaultyChunkStore } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import type { Tables } from "../../../src/object/store/tables.ts";
import { makeCommit, makeObject, type MadeObject, makeTag, makeTree, packOf } from "../../harness/pack-builder.ts";
import { fromHex } from "../stored-repository.ts";
import { type HexCommand, PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";

/** A commit of one file, and its parts. */
function makeGround(
  text: string,
  parents: readonly MadeObject[] = [],
): { blob: MadeObject; tree: MadeObject; commit: MadeObject; all: MadeObject[] } {
  const blob = makeObject("blob", `${text}\n`);
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(
    tree,
    parents.map(({ oid }) => oid),
  );
  return { blob, tree, commit, all: [blob, tree, commit] };
}

/** The whole content of the tables, for comparing: the graph in memory, and the stored rows. */
function describeTables(tables: Tables): unknown {
  const { graph } = tables;
  return {
    refs: tables.refs.all(),
    head: tables.refs.head(),
    objects: tables.objects.lastNumber(),
    chunks: tables.chunks.allInOrder(),
    nodes: Array.from({ length: graph.length }, (_, p) => [
      graph.number(p),
      [...graph.parents(p)].map((parent) => graph.number(parent)),
      graph.tree(p),
      graph.generation(p),
      graph.time(p),
    ]).sort(([a], [b]) => (a as number) - (b as number)),
  };
}

const base = makeGround("base");
let repository: PushedRepository;
beforeEach(async () => {
  repository = new PushedRepository();
  const pushed = await repository.push([["refs/heads/main", null, base.commit.oid]], packOf(...base.all));
  expect(pushed).toEqual({ unpack: "ok", refs: [{ name: "refs/heads/main", error: null }] });
});

function isStored({ oid }: MadeObject): boolean {
  return repository.tables.objects.find(fromHex(oid)) !== null;
}

/** Pushes, and expects no change on disk or in memory. */
async function expectRefused(
  commands: readonly HexCommand[],
  pack: Uint8Array | null,
  errors: readonly RegExp[],
  atomic = false,
): Promise<void> {
  const before = describeTables(repository.tables);
  const result = await repository.push(commands, pack, { atomic });
  expect(result.refs.length).toBe(commands.length);
  result.refs.forEach(({ error }, i) => expect(error).toMatch(errors[i]!));
  expect(describeTables(repository.tables)).toEqual(before);
  expect(describeTables(repository.reopen())).toEqual(before);
}

describe("connectivity", () => {
  const gone = "1234567890".repeat(4);
  const good = makeGround("good", [base.commit]);
  const rows: readonly (readonly [string, () => { tip: MadeObject; objects: MadeObject[] }])[] = [
    [
      "a missing blob",
      () => {
        const tree = makeTree(["100644", "gone", gone]);
        const tip = makeCommit(tree);
        return { tip, objects: [tree, tip] };
      },
    ],
    [
      "a missing tree",
      () => {
        const tip = makeCommit(gone);
        return { tip, objects: [tip] };
      },
    ],
    [
      "a missing subtree, three levels up",
      () => {
        const inner = makeTree(["40000", "gone", gone]);
        const outer = makeTree(["40000", "inner", inner]);
        const tip = makeCommit(outer, [base.commit.oid]);
        return { tip, objects: [inner, outer, tip] };
      },
    ],
    [
      "a missing parent",
      () => {
        const tip = makeCommit(base.tree, [gone]);
        return { tip, objects: [tip] };
      },
    ],
    [
      "a missing grandparent",
      () => {
        const parent = makeCommit(base.tree, [gone]);
        const tip = makeCommit(base.tree, [parent.oid]);
        return { tip, objects: [tip, parent] };
      },
    ],
    [
      "a missing tag target",
      () => {
        const tip = makeTag(gone, "commit", "lost");
        return { tip, objects: [tip] };
      },
    ],
  ];

  test.each(rows)("%s: the ref is refused, its objects are not stored, another ref passes", async (_, make) => {
    const { tip, objects } = make();
    const name = tip.type === "tag" ? "refs/tags/bad" : "refs/heads/bad";
    await expectRefused([[name, null, tip.oid]], packOf(...objects), [/missing necessary objects/]);
    await expectRefused(
      [
        ["refs/heads/good", null, good.commit.oid],
        [name, null, tip.oid],
      ],
      packOf(...objects, ...good.all),
      [/atomic/, /missing/],
      true,
    );
    const result = await repository.push(
      [
        [name, null, tip.oid],
        ["refs/heads/good", null, good.commit.oid],
      ],
      packOf(...good.all, ...objects),
    );
    expect(result.refs).toEqual([
      { name, error: expect.stringContaining(gone) },
      { name: "refs/heads/good", error: null },
    ]);
    expect(objects.map(isStored)).toEqual(objects.map(() => false));
    expect(good.all.map(isStored)).toEqual([true, true, true]);
    expect(describeTables(repository.tables)).toEqual(describeTables(repository.reopen()));
  });

  test("a gitlink may lead nowhere", async () => {
    const tree = makeTree(["160000", "module", gone]);
    const commit = makeCommit(tree);
    const result = await repository.push([["refs/heads/module", null, commit.oid]], packOf(tree, commit));
    expect(result.refs[0]!.error).toBe(null);
  });

  test("a reference to a stored object of another type refuses the pack", async () => {
    for (const [tip, ...objects] of [
      [makeCommit(base.blob)],
      [makeCommit(base.tree, [base.tree.oid])],
      [makeTag(base.blob, "commit", "lie")],
    ] as MadeObject[][]) {
      const before = describeTables(repository.tables);
      const result = await repository.push([["refs/tags/x", null, tip!.oid]], packOf(tip!, ...objects));
      expect(result.unpack).toMatch(/is a (blob|tree), not a (tree|commit)/);
      expect(describeTables(repository.tables)).toEqual(before);
    }
  });

  test("a tip that nobody holds", async () => {
    await expectRefused([["refs/heads/x", null, gone]], packOf(), [/missing/]);
    await expectRefused([["refs/heads/x", null, gone]], null, [/missing/]);
  });

  test("a branch points at a commit only", async () => {
    const tag = makeTag(base.commit, "commit", "v1");
    const before = { branch: /not a commit/ };
    await expectRefused([["refs/heads/x", null, base.blob.oid]], packOf(), [before.branch]);
    await expectRefused([["refs/heads/x", null, tag.oid]], packOf(tag), [before.branch]);
  });
});

describe("compare and swap", () => {
  const next = makeGround("next", [base.commit]);
  const { oid } = next.commit;

  test.each<[string, HexCommand, RegExp]>([
    ["a create where one is", ["refs/heads/main", null, oid], /is at .* but expected nothing/],
    ["an update from elsewhere", ["refs/heads/main", oid, oid], /is at/],
    ["an update of one that is not", ["refs/heads/none", base.commit.oid, oid], /is at nothing/],
    ["a deletion of one that is not", ["refs/heads/none", base.commit.oid, null], /is at nothing/],
    ["a deletion of the current branch", ["refs/heads/main", base.commit.oid, null], /current branch/],
    ["a ref below a ref", ["refs/heads/main/below", null, oid], /conflicts with refs\/heads\/main/],
    ["a ref above a ref", ["refs/heads", null, oid], /conflicts|branch/],
  ])("%s", async (_, command, error) => {
    await expectRefused([command], command[2] === null ? null : packOf(...next.all), [error]);
    const others: HexCommand[] = [["refs/heads/side", null, oid], command];
    await expectRefused(others, packOf(...next.all), [/^atomic push/, error], true);
    const result = await repository.push(others, packOf(...next.all));
    expect(result.refs.map(({ error: reason }) => reason === null)).toEqual([true, false]);
    expect(describeTables(repository.tables)).toEqual(describeTables(repository.reopen()));
  });

  test("a stale deletion of another branch", async () => {
    await repository.push([["refs/heads/side", null, base.commit.oid]], packOf());
    await expectRefused([["refs/heads/side", oid, null]], null, [/is at/]);
    const result = await repository.push([["refs/heads/side", base.commit.oid, null]], null);
    expect(result.refs).toEqual([{ name: "refs/heads/side", error: null }]);
    expect([...repository.refs().keys()]).toEqual(["refs/heads/main"]);
  });

  test("a conflict inside one push takes the second; after a deletion in it there is none", async () => {
    const result = await repository.push(
      [
        ["refs/heads/a/b", null, oid],
        ["refs/heads/a", null, oid],
      ],
      packOf(...next.all),
    );
    expect(result.refs.map(({ error }) => error)).toEqual([null, "conflicts with refs/heads/a/b"]);
    const swapped = await repository.push(
      [
        ["refs/heads/a/b", oid, null],
        ["refs/heads/a", null, oid],
      ],
      packOf(),
    );
    expect(swapped.refs.map(({ error }) => error)).toEqual([null, null]);
    expect([...repository.refs().keys()]).toEqual(["refs/heads/a", "refs/heads/main"]);
  });

  test("an atomic push moves all refs at once", async () => {
    const commands: HexCommand[] = [
      ["refs/heads/main", base.commit.oid, oid],
      ["refs/tags/v1", null, base.commit.oid],
      ["refs/heads/x", null, oid],
    ];
    expect(
      (await repository.push(commands, packOf(...next.all), { atomic: true })).refs.map(({ error }) => error),
    ).toEqual([null, null, null]);
    expect(repository.refs()).toEqual(
      new Map([
        ["refs/heads/main", oid],
        ["refs/heads/x", oid],
        ["refs/tags/v1", base.commit.oid],
      ]),
    );
  });
});

describe("HEAD", () => {
  test.each([
    [["refs/heads/b", "refs/heads/a"], "refs/heads/b"],
    [["refs/heads/a", "refs/heads/master", "refs/heads/main"], "refs/heads/main"],
    [["refs/heads/a", "refs/heads/master"], "refs/heads/master"],
    [["refs/tags/v1"], null],
  ])("after a first push of %j is %s", async (names, head) => {
    const first = new PushedRepository();
    await first.push(
      names.map((name) => [name, null, base.commit.oid] as const),
      packOf(...base.all),
    );
    expect(first.tables.refs.head()).toBe(head);
  });

  test("is chosen by the first push that brings a branch, and stays", async () => {
    const first = new PushedRepository();
    await first.push([["refs/tags/v1", null, base.commit.oid]], packOf(...base.all));
    await first.push([["refs/heads/topic", null, base.commit.oid]], packOf());
    await first.push([["refs/heads/main", null, base.commit.oid]], packOf());
    expect(first.tables.refs.head()).toBe("refs/heads/topic");
  });
});

describe("a repository that does not exist", () => {
  test("is not made by a push that fails", async () => {
    const sql = new NodeSql();
    const first = new PushedRepository({ sql });
    const lost = makeCommit("12".repeat(20));
    expect((await first.push([["refs/heads/main", null, lost.oid]], packOf(lost))).refs[0]!.error).toMatch(/missing/);
    expect((await first.push([["refs/heads/main", null, lost.oid]], Buffer.from("PACKET"))).unpack).toMatch(/corrupt/);
    expect((await first.push([["refs/heads/main", lost.oid, null]], null)).refs[0]!.error).toMatch(/is at nothing/);
    expect(first.repository.state.tables).toBe(null);
    expect(sql.exec("SELECT name FROM sqlite_master WHERE name <> 'jobs' AND type = 'table'").toArray()).toEqual([]);
  });

  test("is made once by pushes that race", async () => {
    const first = new PushedRepository();
    const grounds = Array.from({ length: 6 }, (_, i) => makeGround(`racer ${i}`));
    const results = await Promise.all([
      ...grounds.map(({ commit, all }, i) => first.push([[`refs/heads/r${i}`, null, commit.oid]], packOf(...all))),
      ...grounds.map(({ commit, all }) => first.push([["refs/heads/one", null, commit.oid]], packOf(...all))),
    ]);
    const errors = results.map(({ refs }) => refs[0]!.error);
    expect(errors.slice(0, 6)).toEqual([null, null, null, null, null, null]);
    expect(errors.slice(6).filter((error) => error === null).length).toBe(1);
    expect(describeTables(first.tables)).toEqual(describeTables(first.reopen()));
    expect(first.tables.objects.lastNumber()).toBe(18);
  });
});

describe("when the database fails", () => {
  test.each(["before", "after"] as const)(
    "%s a push was applied, memory and disk agree, and the next push succeeds",
    async (when) => {
      let fails = false;
      const sql = new NodeSql();
      const failing = new PushedRepository({
        sql,
        transactor: {
          transactionSync: (f) => {
            sql.exec("BEGIN");
            try {
              if (fails && when === "before") throw new Error("disk full");
              const result = f();
              if (fails) throw new Error("disk full");
              sql.exec("COMMIT");
              return result;
            } catch (error) {
              sql.exec("ROLLBACK");
              throw error;
            }
          },
        },
      });
      await failing.push([["refs/heads/main", null, base.commit.oid]], packOf(...base.all));
      const before = describeTables(failing.tables);
      const next = makeGround("next", [base.commit]);
      fails = true;
      await expect(
        failing.push([["refs/heads/main", base.commit.oid, next.commit.oid]], packOf(...next.all)),
      ).rejects.toThrow("disk full");
      expect(describeTables(failing.tables)).toEqual(before);
      fails = false;
      const result = await failing.push([["refs/heads/main", base.commit.oid, next.commit.oid]], packOf(...next.all));
      expect(result.refs[0]!.error).toBe(null);
      expect(describeTables(failing.tables)).toEqual(describeTables(failing.reopen()));
    },
  );
});

describe("chunks", () => {
  const HOUR_MS = 60 * 60_000;
  const noise = makeObject(
    "blob",
    Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 7919 * (i >> 3)) & 0xff)),
  );
  const large = makeObject(
    "blob",
    Buffer.from(Uint32Array.from({ length: 200_000 }, (_, i) => Math.imul(i, 0x9e3779b1)).buffer),
  );

  test("that hold nothing new are swept, and those of a failed push too", async () => {
    const pushed = new PushedRepository();
    const tree = makeTree(["100644", "large", large], ["100644", "noise", noise]);
    const commit = makeCommit(tree);
    await pushed.push([["refs/heads/main", null, commit.oid]], packOf(large, noise, tree, commit));
    const keys = await pushed.keys();
    expect(keys.length).toBe(1);
    await pushed.push([["refs/heads/again", null, commit.oid]], packOf(large, noise, tree, commit));
    expect((await pushed.keys()).length).toBe(2);
    await pushed.push([["refs/heads/bad", null, "12".repeat(20)]], packOf(large));
    await pushed.repository.runJobs(Date.now() + 1);
    expect(await pushed.keys()).toEqual(keys);
    // The next sweep.
    await pushed.repository.runJobs(Date.now() + HOUR_MS + 1);
    expect(pushed.tables.jobs.nextDueMs()).toBe(null);
  });

  test("a store that fails leaves no ref, and its garbage to a job", async () => {
    let isBroken = true;
    const chunks = new FaultyChunkStore(new MemoryChunkStore(), ({ operation }) =>
      isBroken && operation === "put" ? "after" : null,
    );
    const pushed = new PushedRepository({ chunks });
    const tree = makeTree(["100644", "large", large]);
    const commit = makeCommit(tree);
    const push = () => pushed.push([["refs/heads/main", null, commit.oid]], packOf(large, tree, commit));
    await expect(push()).rejects.toMatchObject({ code: "storage-failed" });
    expect(pushed.repository.state.tables).toBe(null);
    expect((await pushed.keys()).length).toBe(1);
    isBroken = false;
    expect((await push()).refs[0]!.error).toBe(null);
    await pushed.repository.runJobs(Date.now() + 1);
    expect(await pushed.keys()).toEqual(pushed.tables.chunks.allInOrder().map(({ key }) => key));
  });
});

test("an empty index names and holds nothing", () => {
  const pushed = PushedObjects.compare(EMPTY_INDEX, repository.tables.objects);
  expect([pushed.freshCount, pushed.missing, [...pushed.findPackNodes(fromHex(base.commit.oid))]]).toEqual([
    0,
    null,
    [-1],
  ]);
});
