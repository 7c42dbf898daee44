import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { newLfsKey } from "../../../src/object/store/lfs/lfs-table.ts";
import type { FsckProblem, FsckProblemKind } from "../../../src/contract/upkeep.ts";
import { objectOf } from "../../harness/lfs.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { forgetTrees } from "../faults/fault-points.ts";
import { housekeep } from "../maintenance/housekeep.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";
import { check, fill } from "./checked-repository.ts";

const HOUR_MS = 60 * 60_000;

/** Of one fault in what each of the later stages checks. */
const PLANTED: readonly FsckProblemKind[] = [
  "bundle",
  "response",
  "worktree-file",
  "lfs-object",
  "upload-part",
  "orphan",
];

/** Tables without whose rows a fault cannot be told from nothing. */
const NAMED_BY: Readonly<Record<string, FsckProblemKind>> = {
  bundles: "bundle",
  responses: "response",
  worktrees: "worktree-file",
  worktree_files: "worktree-file",
  lfs_objects: "lfs-object",
  uploads: "upload-part",
  upload_parts: "upload-part",
};

/** Tables whose loss no check can tell: an empty one is as good. */
const MAY_BE_EMPTY = new Set(
  `authored authors bundles deliveries events job_runs lfs_objects lfs_pointers lfs_scan mirrored_refs mirrors
   path_filters pins pruned pushed_refs pushes ref_rules refs responses staged statuses tree_sums trees upload_parts uploads
   vetted_blobs webhooks worktree_files worktrees`.split(/\s+/),
);

/** What a table holds, by its columns' types. */
interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
}

let saved: string;
let id: string;
let chunks: MemoryChunkStore;
let columns: Column[];
let tables: string[];
let stored: string[];
let opened = 0;

beforeAll(async () => {
  const file = join(makeTempDir("damage"), "whole.sqlite");
  const database = new DatabaseSync(file);
  chunks = new MemoryChunkStore();
  const repository = new PushedRepository({
    chunks,
    sql: new NodeSql(database),
    worktrees: "default-branch",
    limits: { minBundleBytes: 0, bundleDelayMs: 0 },
  });
  await fill(repository);
  await housekeep(repository, Date.now() + HOUR_MS / 2);
  repository.tables.jobs.add("filter", "", Date.now());
  repository.tables.jobs.add("tally", "", Date.now());
  await housekeep(repository, Date.now() + HOUR_MS / 2);
  id = repository.repository.state.key;
  await plant(repository);
  stored = await Array.fromAsync(chunks.list(""));
  tables = repository.sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .toArray()
    .map(({ name }) => name);
  columns = tables.flatMap((table) =>
    repository.sql
      .exec<{ name: string; type: string }>(`SELECT name, type FROM pragma_table_info('${table}')`)
      .toArray()
      .map(({ name, type }) => ({ table, name, type })),
  );
  database.close();
  saved = file;
});

/** Makes one fault in what each later stage checks, and rows in tables that are made on demand. */
async function plant(repository: PushedRepository): Promise<void> {
  const { tables, sql } = repository;
  await chunks.delete([tables.bundles.current()!.key]);
  const [file] = await Array.fromAsync(chunks.list(`${id}/worktrees/`));
  await chunks.delete([file!]);
  tables.responses.insert(new Uint8Array(20), { objectKey: `${id}/packs/1`, sizeBytes: 9, objectCount: 1 }, Date.now());
  await chunks.put(`${id}/packs/2`, new Uint8Array(9));
  tables.responses.insert(
    new Uint8Array(20).fill(1),
    { objectKey: `${id}/packs/2`, sizeBytes: 9, objectCount: 1 },
    Date.now(),
  );
  tables.lfs.begin(0);
  for (const text of ["gone", "there"]) {
    const { oid, size, bytes } = objectOf(text);
    const key = newLfsKey(id, oid);
    if (text === "there") await chunks.put(key, bytes);
    tables.lfs.add({ oid, sizeBytes: size, key }, Date.now());
  }
  tables.uploads.begin("session", Date.now(), Date.now() + HOUR_MS, ["an option"]);
  for (const part of [1, 2]) {
    const key = `${id}/uploads/session/${part}`;
    if (part === 2) await chunks.put(key, new Uint8Array(5));
    tables.uploads.putPart("session", { part, key, sizeBytes: 5, checksum: "00" });
  }
  await chunks.put(`${id}/chunks/orphan`, new Uint8Array(5));
  tables.events.add({ push: 1, timeMs: 1, who: "me", type: "token", data: {} } as never);
  tables.refRules.replace([
    {
      pattern: "refs/heads/x",
      noForce: true,
      noDelete: true,
      fastForwardOnly: true,
      allowedTokens: ["t"],
      requiredContexts: ["c"],
    },
  ]);
  repository.repository.state.pins.set("another", 1, new Set([`${id}/pinned`]));
  sql.exec("INSERT INTO job_runs (kind, record) VALUES ('expire', '{}') ON CONFLICT DO NOTHING");
}

/** All problems of a repository after some damage, with repair or without. */
async function problemsAfter(damage: {
  rows?: (sql: NodeSql) => void;
  store?: (store: MemoryChunkStore) => Promise<void>;
}): Promise<FsckProblem[]> {
  const found: FsckProblem[][] = [];
  for (const repair of [false, true]) {
    const file = `${saved}.${opened++}`;
    copyFileSync(saved, file);
    const database = new DatabaseSync(file);
    try {
      damage.rows?.(new NodeSql(database));
      const store = chunks.copy();
      await damage.store?.(store);
      forgetTrees();
      const repository = new PushedRepository({ id, chunks: store, sql: new NodeSql(database) });
      const { problems, checked } = await check(repository, { repair, rules: "default" });
      if (repair) expect(checked.repaired).toBeGreaterThan(0);
      found.push(problems);
    } finally {
      database.close();
      rmSync(file);
    }
  }
  expect(kindsOf(found[1]!)).toEqual(kindsOf(found[0]!));
  return found[0]!;
}

const kindsOf = (problems: readonly FsckProblem[]): string[] =>
  [...new Set(problems.map(({ kind }) => kind))].toSorted();

test("every stage is reached, and finds its fault, where nothing else is damaged", async () => {
  expect(kindsOf(await problemsAfter({}))).toEqual([...PLANTED].toSorted());
});

const folderOf = (key: string): string => key.split("/")[1]!;

test("every stage is reached, whatever R2 object is gone, cut or damaged", async () => {
  expect(new Set(stored.map(folderOf))).toEqual(new Set(["chunks", "packs", "worktrees", "lfs", "uploads"]));
  const whole = (await problemsAfter({})).length;
  // The last of the objects of a kind, and all chunks.
  const lasts = new Map(stored.filter((key) => !key.endsWith("/orphan")).map((key) => [folderOf(key), key]));
  const chunkKeys = stored.filter((key) => folderOf(key) === "chunks" && !key.endsWith("/orphan"));
  for (const key of new Set([...chunkKeys, ...lasts.values()])) {
    const { sizeBytes } = (await chunks.stat(key))!;
    const bytes = await chunks.read(key, 0, sizeBytes);
    const damaged = bytes.slice();
    for (let at = 0; at < 3 && at < damaged.length; at++) damaged[(damaged.length >>> 1) + at]! ^= 0x55;
    const changes = {
      gone: (store: MemoryChunkStore) => store.delete([key]),
      cut: (store: MemoryChunkStore) => store.put(key, bytes.slice(0, -1)),
      damaged: (store: MemoryChunkStore) => store.put(key, damaged),
    };
    for (const [name, store] of Object.entries(changes)) {
      const problems = await problemsAfter({ store });
      const what = `${key} is ${name}`;
      expect(kindsOf(problems), what).toEqual(expect.arrayContaining([...PLANTED]));
      // The bytes of responses and parts have no checksum that a check may use.
      if (name === "damaged" && /\/(packs|uploads)\//.test(key)) continue;
      expect(problems.length, what).toBeGreaterThan(whole);
    }
  }
});

test("every stage is reached, whatever rows are gone", { tags: "sweep" }, async () => {
  for (const table of tables.filter((name) => name !== "repository" && name !== "jobs")) {
    const problems = await problemsAfter({ rows: (sql) => sql.exec(`DELETE FROM ${table}`) });
    expect(kindsOf(problems), table).toEqual(
      expect.arrayContaining(PLANTED.filter((kind) => kind !== NAMED_BY[table])),
    );
    if (MAY_BE_EMPTY.has(table) || problems.some(({ kind }) => !PLANTED.includes(kind))) continue;
    expect.fail(`nobody tells that ${table} is empty`);
  }
});

test("an orphan is kept where the row is lost that named it, over many calls", async () => {
  const file = `${saved}.${opened++}`;
  copyFileSync(saved, file);
  const database = new DatabaseSync(file);
  const store = chunks.copy();
  const before = await Array.fromAsync(store.list(`${id}/chunks/`));
  const repository = new PushedRepository({ id, chunks: store, sql: new NodeSql(database) });
  repository.sql.exec("DELETE FROM sealed_chunks");
  const { problems } = await check(repository, { repair: true, budgetSteps: 0 });
  expect(problems.filter(({ kind }) => kind === "orphan").map(({ key }) => key)).toEqual(before);
  await housekeep(repository, Date.now() + HOUR_MS);
  expect(await Array.fromAsync(store.list(`${id}/chunks/`))).toEqual(before);
  database.close();
});

test("every stage is reached, whatever value is cut or damaged", { tags: "sweep" }, async () => {
  const tried = columns.filter(
    ({ table, type }) => table !== "repository" && table !== "jobs" && /BLOB|TEXT/.test(type),
  );
  for (const { table, name, type } of tried) {
    const half = `substr(${name}, 1, length(${name}) / 2)`;
    const values =
      type === "BLOB"
        ? [`CAST(${half} AS BLOB)`, `CAST(x'ffffff' || substr(${name}, 4) AS BLOB)`]
        : [half, `'{' || ${name}`];
    for (const value of values) {
      const statement = `UPDATE OR IGNORE ${table} SET ${name} = ${value}`;
      const problems = await problemsAfter({ rows: (sql) => sql.exec(statement) });
      expectAllPlanted(problems, table, statement);
    }
  }
});

test("every stage is reached, whatever number is wild", { tags: "sweep", timeout: 300_000 }, async () => {
  const tried = columns.filter(({ table, type }) => table !== "repository" && table !== "jobs" && type === "INTEGER");
  expect(tried.length).toBeGreaterThan(70);
  for (const { table, name } of tried) {
    for (const value of ["-1", "0", `${name} + 1`, "9007199254740000", "9223372036854775807"]) {
      const statement = `UPDATE OR IGNORE ${table} SET ${name} = ${value}`;
      const problems = await problemsAfter({ rows: (sql) => sql.exec(statement) });
      expectAllPlanted(problems, table, statement);
    }
  }
});

/** Expects each planted fault to be found, but for what the damage hides. */
function expectAllPlanted(problems: readonly FsckProblem[], table: string, statement: string): void {
  const lost: (FsckProblemKind | undefined)[] = [NAMED_BY[table]];
  // What names R2 objects cannot be read: nothing can be said to be an orphan.
  if (problems.some(({ detail }) => detail.startsWith("stage keys: "))) lost.push("orphan");
  expect(kindsOf(problems), statement).toEqual(expect.arrayContaining(PLANTED.filter((kind) => !lost.includes(kind))));
}
