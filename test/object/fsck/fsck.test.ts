import { beforeAll, describe, expect, test } from "vitest";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { fsck } from "../../../src/object/fsck/fsck.ts";
import type { FsckStageName, FsckProblem } from "../../../src/contract/upkeep.ts";
import { CHANGES_ALL, makePathFilter } from "../../../src/base/format/path-filter.ts";
import { openPathFilters } from "../../../src/object/store/graph/path-filter-table.ts";
import { OID_BYTES, toHex } from "../../../src/base/format/oid.ts";
import type { StoredNode } from "../../../src/object/store/index/node-pages.ts";
import type { ObjectRow } from "../../../src/object/store/index/object-columns.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { git } from "../../harness/git.ts";
import { ANYONE } from "../../harness/requester.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { PushedRepository } from "../pushing.ts";
import { check, fill } from "./checked-repository.ts";
import { Damage } from "./damage.ts";

const HOUR_MS = 60 * 60_000;

test("an empty repository has no problem", async () => {
  const repository = new PushedRepository();
  await repository.repository.create("main");
  expect((await check(repository)).problems).toEqual([]);
});

describe("damage", () => {
  const chunks = new MemoryChunkStore();
  const repository = new PushedRepository({
    chunks,
    worktrees: "default-branch",
    limits: { minBundleBytes: 0, bundleDelayMs: 0 },
  });
  let main: string;

  beforeAll(async () => {
    const dir = await fill(repository);
    main = await git(dir, "rev-parse", "main");
    await housekeep(repository, Date.now() + HOUR_MS / 2);
    // A response as a Worker would have stored it.
    const key = `${repository.repository.state.key}/packs/1`;
    await chunks.put(key, new Uint8Array(9));
    repository.tables.responses.insert(
      new Uint8Array(20),
      { objectKey: key, sizeBytes: 9, objectCount: 1 },
      Date.now(),
    );
    expect((await check(repository)).problems).toEqual([]);
  });

  const damage = new Damage(repository);
  const withRows = (statement: string, from?: FsckStageName): Promise<FsckProblem[]> => damage.inRows(statement, from);

  /** The problems found after an R2 object is replaced; null: removed. */
  async function withStored(
    key: string,
    change: (bytes: Uint8Array) => Uint8Array | null,
    from: FsckStageName = "chunks",
  ): Promise<FsckProblem[]> {
    const { sizeBytes } = (await chunks.stat(key))!;
    const bytes = await chunks.read(key, 0, sizeBytes);
    const changed = change(bytes.slice());
    if (changed === null) await chunks.delete([key]);
    else await chunks.put(key, changed);
    try {
      return (await check(repository, { from })).problems;
    } finally {
      await chunks.put(key, bytes);
    }
  }

  const kinds = (problems: readonly FsckProblem[]): string[] =>
    [...new Set(problems.map(({ kind }) => kind))].toSorted();
  const one = <T extends string | number>(query: string): T =>
    Object.values(repository.sql.exec<Record<string, T>>(query).one())[0]!;
  const isFat = ({ size }: ObjectRow): boolean => size === 700_000;
  const isMain = ({ oid }: ObjectRow): boolean => toHex(oid) === main;
  const sealed = (): { readonly id: number; readonly key: string } => {
    const { id, key } = repository.tables.chunks.allInOrder().find((row) => row.key !== null)!;
    return { id, key: key! };
  };
  const flipAt =
    (at: number) =>
    (bytes: Uint8Array): Uint8Array => {
      bytes[at]! ^= 4;
      return bytes;
    };

  test("a chunk's R2 object is gone, or cut", async () => {
    const { key, id: chunk } = sealed();
    expect(await withStored(key, () => null)).toMatchObject([{ kind: "chunk-missing", chunk, key }]);
    expect(await withStored(key, (bytes) => bytes.slice(0, -1))).toMatchObject([{ kind: "chunk-short", chunk, key }]);
  });

  test("one bit of a chunk is another", async () => {
    const { key } = sealed();
    const problems = await withStored(key, flipAt(300_000));
    // The blob is one stored block of zlib: altered, it inflates to something else, or not at all.
    expect(problems).toMatchObject([{ kind: "chunk-checksum", key }, { chunk: problems[0]!.chunk }]);
    expect(problems[1]!.kind).toMatch(/^object-(changed|unreadable)$/);
    expect(problems[1]!.oid).toBe(toHex(damage.findRow(isFat).oid));
  });

  test("a hot chunk's bytes are others, fewer, or not there", { tags: "sweep" }, async () => {
    const id = one<number>("SELECT id FROM hot_chunks ORDER BY size DESC LIMIT 1");
    const damaged = await withRows(
      `UPDATE hot_chunks SET bytes = CAST(substr(bytes, 1, 2000) || x'00' || substr(bytes, 2002) AS BLOB) WHERE id = ${id}`,
    );
    expect(kinds(damaged)).toEqual(expect.arrayContaining(["chunk-checksum", "object-unreadable"]));
    for (const bytes of ["substr(bytes, 2)", "x''"]) {
      const short = await withRows(`UPDATE hot_chunks SET bytes = ${bytes} WHERE id = ${id}`);
      expect(short[0]).toMatchObject({ kind: "chunk-short", chunk: id });
    }
  });

  test("a chunk's row says what is not so", async () => {
    const checksum = new Uint8Array(20);
    expect(kinds(await damage.ofSealed((row) => ({ ...row, checksum })))).toEqual(["chunk-checksum"]);
    const wider = await damage.ofSealed((row) => ({ ...row, size: row.size - 1 }));
    expect(kinds(wider)).toEqual(["chunk-checksum", "chunk-row", "object-row", "object-unreadable"]);
    const gone = await damage.ofSealed(() => null);
    expect(gone).toContainEqual(expect.objectContaining({ kind: "object-row", detail: "its chunk has no row" }));
    const id = one<number>("SELECT id FROM hot_chunks WHERE base_floor > 0 LIMIT 1");
    expect(await withRows(`UPDATE hot_chunks SET base_floor = 1000000 WHERE id = ${id}`)).toMatchObject([
      { kind: "chunk-row", chunk: id },
    ]);
    expect(kinds(await withRows(`UPDATE hot_chunks SET ofs_floor = 0`))).toEqual(["chunk-row"]);
    expect(kinds(await withRows(`DELETE FROM hot_chunks WHERE id = ${id}`))).toContain("object-row");
  });

  test("an object's row says what is not so", async () => {
    const { number, oid, base } = damage.findRow((row) => row.type === 3 && row.base !== 0);
    const found = async (
      name: "size" | "length" | "chunk" | "base" | "distance",
      value: number,
    ): Promise<FsckProblem[]> => {
      const problems = await damage.ofObject(number, (row, i) => (row[name][i] = value));
      return problems.filter((problem) => problem.oid === toHex(oid));
    };
    const row = damage.findRow((one) => one.number === number);
    expect(await found("size", row.size + 1)).toMatchObject([{ kind: "object-row" }]);
    expect(await found("length", row.length - 1)).toMatchObject([{ kind: "object-unreadable" }]);
    expect(await found("chunk", 99_999)).toMatchObject([{ kind: "object-row" }]);
    expect(await found("base", number)).toMatchObject([{ kind: "object-unreadable" }]);
    expect(await found("base", 99_999)).toMatchObject([{ kind: "object-row" }, { kind: "object-unreadable" }]);
    expect(kinds(await found("base", base - 1))).not.toEqual([]);
    expect(await found("distance", row.distance + 1)).toMatchObject([{ kind: "object-row" }]);
  });

  test("an object's row is gone, or names another object", async () => {
    const { number, oid } = damage.findRow(isFat);
    const gone = await damage.withoutObject(number);
    expect(kinds(gone)).toEqual(["chunk-row", "object-row", "reachability", "reference-missing"]);
    expect(gone).toContainEqual(
      expect.objectContaining({ kind: "reference-missing", detail: expect.stringContaining(toHex(oid)) }),
    );
    const renamed = await damage.ofObject(number, ({ oid: oids }, i) => {
      for (let o = 0; o < OID_BYTES; o++) oids[i * OID_BYTES + o] = 0;
    });
    expect(renamed).toContainEqual(expect.objectContaining({ kind: "object-changed", oid: "0".repeat(40) }));
    const typed = await damage.ofObject(number, ({ type }, i) => (type[i] = 2));
    expect(kinds(typed)).toEqual(expect.arrayContaining(["object-row", "reference-type"]));
  });

  test("ids lead to nothing, or pages of objects or chunks cannot be read", async () => {
    const lost = await withRows("DELETE FROM object_ids");
    const oid = toHex(damage.findRow(isFat).oid);
    expect(lost).toContainEqual({ kind: "object-row", oid, detail: "its id does not lead to it" });
    for (const [table, column] of [
      ["object_chunks", "objects"],
      ["sealed_chunks", "chunks"],
    ] as const) {
      const problems = await withRows(`UPDATE ${table} SET ${column} = x'0501'`);
      const detail = expect.stringContaining(`storage failed at ${table}: a page is corrupt`);
      expect(problems).toContainEqual({ kind: "unreadable", detail });
    }
  });

  test("the graph says what is not so", async () => {
    const { number } = damage.findRow(isMain);
    const changes: ((node: StoredNode) => Partial<StoredNode>)[] = [
      () => ({ parents: [] }),
      () => ({ tree: 1 }),
      ({ time }) => ({ time: time + 1 }),
      ({ generation }) => ({ generation: generation + 1 }),
    ];
    for (const change of changes) {
      const problems = await damage.ofNode(number, (node) => ({ ...node, ...change(node) }));
      expect(problems).toContainEqual(expect.objectContaining({ kind: "node-row", oid: main }));
    }
    expect(await damage.ofNode(number, (node) => ({ ...node, time: 5 }))).toMatchObject([
      { kind: "node-row", oid: main },
    ]);
    expect(kinds(await damage.ofNode(number, () => null))).toEqual(
      expect.arrayContaining(["node-row", "reachability", "ref-target"]),
    );
  });

  test("what is remembered of a tree is not so", async () => {
    const { number, oid } = damage.findRow(({ type }) => type === 2);
    const problems = await withRows(`INSERT OR REPLACE INTO trees (tree, entries) VALUES (${number}, x'02000000')`);
    expect(problems).toEqual([{ kind: "tree-row", oid: toHex(oid), detail: expect.any(String) }]);
  });

  test("the rows of reachability are not so", async () => {
    const blob = damage.findRow(isFat);
    const only = { kind: "reachability", oid: toHex(blob.oid) };
    expect(await damage.ofObject(blob.number, ({ introducer }, i) => (introducer[i] = 0))).toMatchObject([only]);
    const other = damage.findRow(isMain).number;
    const moved = await damage.ofObject(blob.number, ({ introducer }, i) => (introducer[i] = other));
    expect(moved.length).toBeGreaterThan(0);
    expect(moved.every(({ kind, oid }) => kind === "reachability" && oid === only.oid)).toBe(true);
    // A node that lacks entries, or cannot be read.
    const introducing = (hex: string): Promise<FsckProblem[]> =>
      damage.ofNode(other, (node) => ({ ...node, introduced: Uint8Array.fromHex(hex) }));
    expect(kinds(await introducing("0101"))).toEqual(["reachability"]);
    expect(kinds(await introducing("ff"))).toEqual(["reachability"]);
    expect(await introducing("01ffffffff0e")).toEqual([
      { kind: "reachability", detail: `the list of objects that node ${other} introduced cannot be read` },
    ]);
    expect(one<number>("SELECT count(*) AS count FROM reintroductions")).toBeGreaterThan(0);
    expect(kinds(await withRows("DELETE FROM reintroductions"))).toEqual(["reachability"]);
  });

  test("a filter is another commit's, or nobody's; repair has it made again", async () => {
    const { tables, sql } = repository;
    tables.jobs.add("filter", "", Date.now());
    await housekeep(repository, Date.now());
    expect((await check(repository)).problems).toEqual([]);
    const main = damage.findRow(isMain);
    const wrong = { number: main.number, filter: makePathFilter(new Set(["not/there"])) };
    const nobody = { number: damage.findRow(isFat).number, filter: CHANGES_ALL };
    const [low, high] = [wrong, nobody].toSorted((a, b) => a.number - b.number);
    openPathFilters(sql).write([low!, high!]);
    const problems = (await check(repository, { from: "filters" })).problems;
    expect(problems).toHaveLength(2);
    expect(problems).toContainEqual(expect.objectContaining({ kind: "path-filter", oid: toHex(main.oid) }));
    const { checked } = await check(repository, { from: "filters", repair: true });
    expect(checked.repaired).toBe(2);
    await housekeep(repository, Date.now());
    expect((await check(repository)).problems).toEqual([]);
    expect([...openPathFilters(sql).all()]).toHaveLength(repository.tables.graph.length);
  });

  test("a ref leads nowhere, or is peeled wrongly; names and HEAD are none", async () => {
    const found = (statement: string): Promise<FsckProblem[]> => withRows(statement, "refs");
    const at = (name: string): string => `WHERE name = '${name}'`;
    expect(await found(`UPDATE refs SET oid = zeroblob(20) ${at("refs/heads/fat")}`)).toMatchObject([
      { kind: "ref-target", ref: "refs/heads/fat" },
    ]);
    expect(
      await found(`UPDATE refs SET oid = (SELECT oid FROM refs ${at("refs/tags/v0")}) ${at("refs/heads/fat")}`),
    ).toMatchObject([{ kind: "ref-target" }]);
    expect(await found(`UPDATE refs SET peeled = NULL ${at("refs/tags/of-tag")}`)).toMatchObject([
      { kind: "ref-peeled", ref: "refs/tags/of-tag" },
    ]);
    expect(await found(`UPDATE refs SET peeled = oid ${at("refs/heads/fat")}`)).toMatchObject([{ kind: "ref-peeled" }]);
    expect(await found(`UPDATE refs SET name = 'refs/heads/a..b' ${at("refs/heads/fat")}`)).toMatchObject([
      { kind: "ref-name" },
    ]);
    expect(await found(`UPDATE refs SET name = 'refs/heads/tiny/x' ${at("refs/heads/fat")}`)).toMatchObject([
      { kind: "ref-name" },
    ]);
    expect(await found(`DELETE FROM refs ${at("HEAD")}`)).toMatchObject([{ kind: "head" }]);
    expect(await found(`UPDATE refs SET symref = 'refs/tags/v0' ${at("HEAD")}`)).toMatchObject([{ kind: "head" }]);
    expect(await found(`UPDATE refs SET symref = 'refs/heads/unborn' ${at("HEAD")}`)).toEqual([]);
  });

  test("what is made of chunks is gone, or another: repaired when that is asked for", async () => {
    const { tables } = repository;
    const worktree = tables.worktrees.all()[0]!;
    const [file] = (await chunksBelow("/worktrees/")).toSorted();
    const bundle = tables.bundles.current()!.key;
    const response = (await chunksBelow("/packs/"))[0]!;
    expect(await withStored(file!, () => null, "bundle")).toMatchObject([{ kind: "worktree-file", key: file }]);
    expect(await withStored(file!, flipAt(0), "bundle")).toMatchObject([{ kind: "worktree-file", key: file }]);
    expect(await withStored(bundle, (bytes) => bytes.slice(1), "bundle")).toMatchObject([
      { kind: "bundle", key: bundle },
    ]);
    expect(await withStored(response, () => null, "bundle")).toMatchObject([{ kind: "response", key: response }]);
    const grown = await damage.ofFiles(worktree.id, (file) => ({ ...file, sizeBytes: file.sizeBytes + 1 }));
    expect(grown).toHaveLength(worktree.files);

    await chunks.delete([file!, bundle, response]);
    const { problems, checked } = await check(repository, { repair: true, from: "bundle" });
    expect(kinds(problems)).toEqual(["bundle", "response", "worktree-file"]);
    expect(checked.repaired).toBe(3);
    await housekeep(repository, Date.now() + HOUR_MS / 2);
    expect((await check(repository)).problems).toEqual([]);
    expect(await chunks.stat(file!)).not.toBeNull();
    expect(tables.bundles.current()!.key).not.toBe(bundle);
  });

  test("an R2 object that nothing names is an orphan, unless a job will sweep it", async () => {
    const prefix = repository.repository.state.key;
    const keys = ["chunks/dead/1", "worktrees/main/none", "worktrees/main%/none", "worktrees/gone/a", "else"].map(
      (name) => `${prefix}/${name}`,
    );
    for (const key of keys) await chunks.put(key, new Uint8Array(1));
    const { problems } = await check(repository, { from: "keys" });
    expect(problems.map(({ kind, key }) => `${kind} ${key}`).toSorted()).toEqual(
      keys.map((key) => `orphan ${key}`).toSorted(),
    );
    repository.tables.jobs.add("sweep", `${prefix}/chunks/dead/`, Date.now() + HOUR_MS);
    expect((await check(repository, { from: "keys" })).problems).toHaveLength(4);
    repository.tables.jobs.cancel("sweep", `${prefix}/chunks/dead/`);
    await check(repository, { repair: true, from: "keys" });
    await repository.repository.runJobs(Date.now() + 1);
    expect((await check(repository, { from: "keys" })).problems.map(({ key }) => key)).toEqual(
      keys.slice(1, 4).toSorted(),
    );
    await chunks.delete(keys);
  });

  test("a blob that is never in memory whole is checked like any other", async () => {
    const store = new MemoryChunkStore();
    const large = new PushedRepository({ chunks: store });
    const blobs = [100, 4_300_000].map((size) => makeObject("blob", new Random(size).bytes(size)));
    const flat = makeObject("blob", Buffer.alloc(5_000_000, "line\n"));
    const tree = makeTree(...[...blobs, flat].map((blob, i) => ["100644", `${i}`, blob] as const));
    const commit = makeCommit(tree, [], "Large\n");
    await large.push([["refs/heads/main", null, commit.oid]], packOf(...blobs, tree, commit, flat));
    expect((await check(large)).problems).toEqual([]);
    const [key] = await large.keys();
    const { sizeBytes } = (await store.stat(key!))!;
    await store.put(key!, flipAt(sizeBytes >>> 1)(await store.read(key!, 0, sizeBytes)));
    expect((await check(large)).problems).toMatchObject([
      { kind: "chunk-checksum", key },
      { kind: expect.stringMatching(/^object-(changed|unreadable)$/), oid: blobs[1]!.oid },
    ]);
  });

  test("git's fsck is asked when that is wanted", async () => {
    const bad = new PushedRepository();
    const blob = makeObject("blob", Buffer.from('[submodule "a"]\n\tpath = a\n\turl = -u\n'));
    const tree = makeTree(["0100644", "padded", blob], ["100644", "plain", blob]);
    const commit = makeCommit(tree, [], "Padded\n");
    await bad.push([["refs/heads/main", null, commit.oid]], packOf(blob, tree, commit), {
      pushOptions: ["fsck=lenient"],
    });
    expect((await check(bad)).problems).toEqual([]);
    expect((await check(bad, { rules: "default" })).problems).toEqual([]);
    expect((await check(bad, { rules: "strict" })).problems).toEqual([
      { kind: "object-refused", oid: tree.oid, detail: "zeroPaddedFilemode" },
    ]);
  });

  test("a store that fails is no damage", async () => {
    const broken = new Proxy(chunks, {
      get: (target, name) =>
        name === "read" ? () => Promise.reject(new Error("busy")) : Reflect.get(target, name).bind(target),
    });
    const opened = new OpenRepository(repository.repository.state, ANYONE, async () => undefined);
    Object.defineProperty(opened, "chunks", { value: broken });
    await expect(fsck(opened, { place: { stage: "chunks", after: "" }, rules: null, repair: false })).rejects.toThrow(
      "busy",
    );
  });

  async function chunksBelow(folder: string): Promise<string[]> {
    return Array.fromAsync(chunks.list(repository.repository.state.key + folder));
  }
});
