import assert from "node:assert/strict";
import { openAuthored } from "../../../src/object/store/graph/author-table.ts";
import { openPathFilters } from "../../../src/object/store/graph/path-filter-table.ts";
import { packOf } from "../../harness/pack-builder.ts";
import type { Scenario } from "./enumerate.ts";
import { addJob, alarms, push } from "./steps.ts";
import { makeFat, makeVersion, type Version } from "./versions.ts";
import { World } from "./world.ts";

const MAIN = "refs/heads/main";
const SIDE = "refs/heads/side";
const GONE = "refs/heads/gone";
const DAY_MS = 24 * 60 * 60_000;

const first = makeVersion(null, "first");
const second = makeVersion(first, "second");
/** On `first`, in deltas on `second`. */
const heir = makeVersion({ ...second, commit: first.commit }, "heir");
const kept = makeFat(second.commit.oid, "kept", 300_000);
const doomed = makeFat(second.commit.oid, "doomed", 300_000);

/** Pushes versions, one after the other, to `main`. */
async function pushVersions(world: World, versions: readonly Version[]): Promise<World> {
  for (const { commit, pack } of versions) await push({ [MAIN]: commit.oid }, pack).run(world);
  return world;
}

function makeVersions(count: number, noiseBytes: number): Version[] {
  const versions: Version[] = [];
  for (let i = 0; i < count; i++) versions.push(makeVersion(versions.at(-1) ?? null, `version ${i}`, noiseBytes));
  return versions;
}

/** Jobs that run by themselves. */
export const JOB_SCENARIOS: readonly Scenario[] = [
  {
    name: "merge, then seal",
    isLarge: true,
    begin: () => pushVersions(new World(), makeVersions(10, 230_000)),
    steps: [alarms(1_000)],
    check({ repository: { tables } }) {
      assert.deepEqual([tables.chunks.hot().unmerged, tables.chunks.keys().size], [0, 1]);
    },
  },
  {
    name: "seal of small R2 objects, and their sweep",
    begin: () => pushVersions(new World(), makeVersions(8, 300_000)),
    steps: [alarms(1_000), alarms(2 * DAY_MS)],
    check({ repository: { tables } }) {
      assert.equal(tables.chunks.keys().size, 2);
    },
  },
  {
    name: "prune, compact, sweep",
    async begin() {
      const world = await pushVersions(new World(), [first, second]);
      const fat = { [SIDE]: kept.at(-1)!.oid, [GONE]: doomed.at(-1)!.oid };
      await push(fat, packOf(...kept, ...doomed)).run(world);
      await push({ [SIDE]: null, [GONE]: null, "refs/heads/fat": kept.at(-1)!.oid }, null).run(world);
      await push({ [MAIN]: heir.commit.oid }, heir.pack).run(world);
      return world;
    },
    steps: [
      push({ "refs/heads/fat": first.commit.oid }, null),
      push({ "refs/heads/fat": null }, null),
      alarms(20 * DAY_MS),
    ],
    check({ repository: { tables } }) {
      assert.ok(tables.objects.pruned().size > 0);
    },
  },
  {
    name: "prune of half a chunk",
    async begin() {
      const world = await pushVersions(new World(), [first, second]);
      const fat = { [SIDE]: kept.at(-1)!.oid, [GONE]: doomed.at(-1)!.oid };
      await push(fat, packOf(...kept, ...doomed)).run(world);
      await push({ [GONE]: null }, null).run(world);
      return world;
    },
    steps: [alarms(20 * DAY_MS)],
    check({ repository: { tables } }) {
      assert.ok(tables.chunks.totalBytes() < 400_000);
    },
  },
  {
    name: "bundle, and its replacement",
    async begin() {
      const world = new World({ minBundleBytes: 500, bundleDelayMs: 0 });
      await pushVersions(world, [first]);
      await world.ring(Date.now() + 100);
      return world;
    },
    steps: [push({ [MAIN]: second.commit.oid }, second.pack), alarms(100), alarms(2 * DAY_MS)],
    check({ repository: { tables } }) {
      assert.ok(tables.bundles.current() !== null);
    },
  },
  {
    name: "expire",
    async begin() {
      const world = await pushVersions(new World(), makeVersions(5, 0));
      world.repository.sql.exec("UPDATE pushes SET time_ms = time_ms - ?", 100 * DAY_MS);
      addJob(world, "expire");
      return world;
    },
    steps: [alarms(1_000)],
    check({ repository: { sql } }) {
      assert.equal(sql.exec("SELECT * FROM pushes").toArray().length, 1);
    },
  },
  {
    name: "tally",
    async begin() {
      const world = await pushVersions(new World(), makeVersions(5, 0));
      addJob(world, "tally");
      return world;
    },
    steps: [alarms(1_000)],
    check({ repository: { sql } }) {
      assert.equal([...openAuthored(sql).all()].length, 5);
    },
  },
  {
    name: "filter",
    async begin() {
      const world = await pushVersions(new World(), makeVersions(5, 0));
      addJob(world, "filter");
      return world;
    },
    steps: [alarms(1_000)],
    check({ repository: { sql } }) {
      assert.equal([...openPathFilters(sql).all()].length, 5);
    },
  },
  {
    name: "deletion and erase",
    async begin() {
      const world = await pushVersions(new World(), makeVersions(2, 300_000));
      await world.store.put("the-repository/packs/left", Buffer.from("left"));
      return world;
    },
    steps: [{ name: "delete", run: ({ repository }) => repository.repository.delete() }, alarms(2 * DAY_MS)],
    check({ repository: { sql }, told }) {
      assert.deepEqual(sql.exec("SELECT name FROM sqlite_master").toArray(), []);
      assert.equal(told?.kind, "deleted");
    },
  },
];
