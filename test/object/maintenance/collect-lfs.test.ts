import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newLfsKey } from "../../../src/object/store/lfs/lfs-table.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { objectOf, pointerOf } from "../../harness/lfs.ts";
import { PushedRepository } from "../pushing.ts";
import { housekeep } from "./housekeep.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

async function makeHistory(texts: Record<string, string>): Promise<string> {
  const dir = await makeRepository("collected");
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(dir, path), text);
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "files");
  return dir;
}

/** Enters objects as uploads do, and their bytes. */
async function enter(
  repository: PushedRepository,
  objects: readonly { oid: string; size: number; bytes: Buffer }[],
  nowMs: number,
) {
  const { lfs, jobs, objects: index } = repository.tables;
  for (const { oid, size, bytes } of objects) {
    const key = newLfsKey(repository.repository.state.key, oid);
    await repository.chunks.put(key, bytes);
    lfs.begin(index.lastNumber());
    lfs.add({ oid, sizeBytes: size, key }, nowMs);
  }
  jobs.add("collect", "", nowMs);
}

const lfsKeys = async (repository: PushedRepository): Promise<string[]> =>
  (await repository.keys()).filter((key) => key.includes("/lfs/"));

test("objects that nothing names go after the grace period, but not those that a client has just asked for", async () => {
  const [named, unnamed, asked] = ["named", "unnamed", "asked"].map(objectOf) as [
    ReturnType<typeof objectOf>,
    ReturnType<typeof objectOf>,
    ReturnType<typeof objectOf>,
  ];
  const dir = await makeHistory({ "a.bin": pointerOf(named), "b.txt": "text" });
  const repository = new PushedRepository({ limits: { pruneGraceMs: DAY_MS } });
  const nowMs = Date.now();
  repository.repository.state.create("refs/heads/main");
  await enter(repository, [named, unnamed, asked], nowMs);
  await repository.pushFrom(dir, { "refs/heads/main": "HEAD" });
  await housekeep(repository, nowMs + HOUR_MS);
  expect(repository.tables.lfs.sums().count).toBe(3);

  repository.tables.lfs.renew([asked.oid], nowMs + DAY_MS, nowMs + 1);
  await housekeep(repository, nowMs + DAY_MS + 2 * HOUR_MS);
  expect([...repository.tables.lfs.findMany([named.oid, unnamed.oid, asked.oid]).keys()]).toEqual(
    [asked.oid, named.oid].toSorted(),
  );
  await housekeep(repository, nowMs + 10 * DAY_MS);
  expect((await lfsKeys(repository)).map((key) => key.slice(-73, -9))).toEqual([named.oid]);
  expect(repository.tables.lfs.sums()).toMatchObject({ count: 1, sizeBytes: named.size, ownBytes: named.size });
});

test("pointer files that an older release took keep their objects, too", async () => {
  const objects = Array.from({ length: 40 }, (_, i) => objectOf(`old ${i}`));
  const files = Object.fromEntries(objects.map((object, i) => [`${i}.bin`, pointerOf(object)]));
  const dir = await makeHistory({ ...files, "small.txt": "version", "large.txt": "x".repeat(5_000) });
  const repository = new PushedRepository({ limits: { pruneGraceMs: DAY_MS } });
  const nowMs = Date.now();
  await repository.pushFrom(dir, { "refs/heads/main": "HEAD" }, { pushOptions: ["lfs=allow-missing"] });
  for (const table of ["lfs_objects", "lfs_pointers", "lfs_scan"]) repository.sql.exec(`DROP TABLE ${table}`);

  const stray = objectOf("named by nothing");
  await enter(repository, [...objects, stray], nowMs);
  expect(repository.tables.lfs.unread()).toBe(repository.tables.objects.lastNumber());
  await housekeep(repository, nowMs + 3 * DAY_MS);
  expect(repository.tables.lfs.unread()).toBe(0);
  expect(repository.tables.lfs.pointersAmong(repository.tables.objects.present())).toHaveLength(40);
  expect(repository.tables.lfs.sums().count).toBe(40);
  expect(repository.tables.lfs.find(stray.oid)).toBeNull();
});
