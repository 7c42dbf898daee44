import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../src/base/format/configured-limits.ts";
import { OID_BYTES } from "../../../src/base/format/oid.ts";
import { Traffic } from "../../../src/base/pacing/traffic.ts";
import type { RepositoryPlatform } from "../../../src/object/state/repository-platform.ts";
import { RepositoryState } from "../../../src/object/state/repository-state.ts";
import { NumberSet } from "../../../src/base/numbers/number-set.ts";
import { newObjectColumns } from "../../../src/object/store/index/object-columns.ts";
import type { Sql, Transactor } from "../../../src/object/store/sql/sql.ts";
import { Tables } from "../../../src/object/store/tables.ts";
import { Random } from "../../harness/random.ts";
import { withDatabase } from "../store/database.ts";

/** In a row, each with a tree and a blob of its own. */
const COMMITS = 100_000;
const BRANCHES = 5;

/** Objects of a chunk in R2. */
const CHUNK_OBJECTS = 2_000;

/** The most rows that an object reads for its refs and for the graph. */
const WAKING_ROWS = 60;

/** The most bytes of memory for each commit of the graph. */
const COMMIT_BYTES = 38;

/** The most that it reads to find the ids of these refs, one more, and every chunk: pages of the
 * index. */
const INDEX_ROWS = 30;

/** Fills a database as pushes and housekeeping leave it. @returns the ids of all objects, by
 * number */
function fill(sql: Sql, transactor: Transactor): Uint8Array {
  const tables = new Tables(sql);
  const objects = newObjectColumns(3 * COMMITS);
  objects.oid.set(new Random(1).bytes(3 * COMMITS * OID_BYTES));
  for (let i = 0; i < 3 * COMMITS; i++) {
    const place = { number: i + 1, chunk: 1 + Math.floor(i / CHUNK_OBJECTS), offset: 100 * (i % CHUNK_OBJECTS) };
    const row = { ...place, length: 100, type: 1 + (i % 3), size: 150, introducer: 1 + 3 * Math.floor(i / 3) };
    for (const [name, value] of Object.entries(row)) objects[name as keyof typeof row][i] = value;
  }
  const nodes = Array.from({ length: COMMITS }, (_, i) => {
    const number = 1 + 3 * i;
    return { number, parents: i === 0 ? [] : [number - 3], tree: number + 1, time: 1_700_000_000 + i };
  });
  transactor.transactionSync(() => {
    tables.objects.insertMany(objects);
    tables.chunks.insert(
      Array.from({ length: (3 * COMMITS) / CHUNK_OBJECTS }, (_, i) => ({
        key: `key/chunks/push/${i}`,
        bytes: null,
        size: 100 * CHUNK_OBJECTS,
        checksum: new Uint8Array(20),
        push: 1,
        packOffset: 12 + i * 100 * CHUNK_OBJECTS,
        firstNumber: 1 + i * CHUNK_OBJECTS,
        lastNumber: (i + 1) * CHUNK_OBJECTS,
        whole: true,
        ofsFloor: 0,
        baseFloor: 0,
        objects: null,
      })),
    );
    tables.graph.append(nodes);
    tables.writeNodes(
      0,
      nodes.map(({ number }) => NumberSet.range(number, number + 3)),
    );
    const names = Array.from({ length: BRANCHES }, (_, i) => `refs/heads/branch-${i}`);
    const changes = tables.refs.change(names);
    names.forEach((name, i) => changes.compareAndSwap(name, null, oidOf(objects.oid, 3 * COMMITS - 2 - 300 * i), null));
    changes.write();
    tables.refs.setHead(names[0]!);
  });
  return objects.oid;
}

const oidOf = (oids: Uint8Array, number: number): Uint8Array =>
  oids.slice((number - 1) * OID_BYTES, number * OID_BYTES);

test("an object with 100,000 commits wakes, and finds any object, in few rows", { tags: "sweep" }, () =>
  withDatabase((sql, transactor) => {
    const oids = fill(sql, transactor);
    let graphReads = 0;
    const watched: Sql = {
      databaseSize: 0,
      exec(query, ...bindings) {
        if (query.includes("FROM commits")) graphReads += 1;
        return sql.exec(query, ...bindings);
      },
    };
    // What waking touches; all else belongs to requests.
    const platform: Partial<RepositoryPlatform> = {
      id: "key",
      sql: watched,
      transactor,
      limits: DEFAULT_LIMITS,
      traffic: new Traffic(),
      wakeAt: () => undefined,
    };
    const state = new RepositoryState(platform as RepositoryPlatform, []);
    expect(state.advertised.all.names).toHaveLength(BRANCHES);
    expect(state.advertised.head?.oid).toEqual(oidOf(oids, 3 * COMMITS - 2));
    expect(state.sqlCounters.rowsRead).toBeGreaterThan(BRANCHES);
    // Who asks for the refs alone does not wait for the graph.
    expect(graphReads).toBe(0);
    expect(state.tables!.graph.byteLength).toBeLessThanOrEqual(COMMIT_BYTES * COMMITS);
    expect(graphReads).toBe(1);
    const waking = state.sqlCounters.rowsRead;
    expect(waking).toBeLessThanOrEqual(WAKING_ROWS);
    expect(state.advertised.tips.has(3 * COMMITS - 2)).toBe(true);
    expect(state.advertised.reachable.count()).toBe(COMMITS);
    expect(state.tables!.objects.find(oidOf(oids, 777))?.number).toBe(777);
    expect(state.tables!.chunks.allInOrder()).toHaveLength((3 * COMMITS) / CHUNK_OBJECTS);
    expect(state.sqlCounters.rowsRead - waking).toBeLessThanOrEqual(INDEX_ROWS);
    expect(graphReads).toBe(1);
    expect(state.sqlCounters.rowsWritten).toBe(0);
  }),
);
