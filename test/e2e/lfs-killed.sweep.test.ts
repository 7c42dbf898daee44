/** Uploads of Git LFS while the server dies, at random moments: no object can be seen that is not
 * whole, and once everything is swept nothing is stored that cannot be seen. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { findProblems } from "../harness/find-problems.ts";
import { type ClientObject, LfsClient, objectOf } from "../harness/lfs.ts";
import { Random } from "../harness/random.ts";
import { startServer } from "../harness/server.ts";

const KILLS = 30;

/** By then uploads of these sizes have ended, mostly. */
const LATEST_MS = 400;

test(`uploads while the server is killed ${KILLS} times`, { timeout: 300_000 }, async () => {
  const random = new Random(19);
  const server = await startServer({
    constants: { MIN_LFS_WAIT_MS: 3_000, MIN_LFS_BYTES_PER_SECOND: 1e9, SWEEP_AFTER_MS: 100 },
  });
  try {
    const { body } = await askApi<{ id: string }>(server, "/repos", {
      method: "POST",
      json: { owner: "lfs", name: "killed" },
    });
    const lfs = new LfsClient(`${server.url}/lfs/killed.git`);
    const sent: ClientObject[] = [];
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < KILLS; kill++) {
      const objects = [2_000_000, 300_000, 5_000].map((size) => objectOf(Buffer.from(random.bytes(size))));
      sent.push(...objects);
      const puts = objects.map((object) =>
        lfs.put(object).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );
      await sleep(random.below(LATEST_MS));
      await server.kill();
      for (const [i, done] of (await Promise.all(puts)).entries()) if (done) acknowledged.add(objects[i]!.oid);
      await server.restart();
      for (const object of objects) await expectWhole(lfs, object, acknowledged.has(object.oid));
    }
    // Some were cut, and some were not, or the test shows nothing.
    expect(acknowledged.size).toBeGreaterThan(0);
    expect(acknowledged.size).toBeLessThan(sent.length);

    const seen: string[] = [];
    for (const object of sent) if (await expectWhole(lfs, object, acknowledged.has(object.oid))) seen.push(object.oid);
    const stored = async () =>
      Array.from((await server.readObjects(`${body.id}/lfs/`)).keys(), (key) => key.split("/")[2]!.slice(0, 64));
    for (let tries = 0; (await stored()).length > seen.length; tries++) {
      expect(tries, "what uploads left is still there").toBeLessThan(200);
      await sleep(100);
    }
    expect((await stored()).toSorted()).toEqual(seen.toSorted());
    expect(await findProblems(`${server.url}/lfs/killed`)).toEqual([]);
  } finally {
    await server.close();
  }
});

/** Expects that an object is there whole, or not at all.
 * @param isCertain whether it must be there
 * @returns whether it is */
async function expectWhole(lfs: LfsClient, { oid }: ClientObject, isCertain: boolean): Promise<boolean> {
  const response = await lfs.get(oid);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 200) expect(objectOf(bytes).oid).toBe(oid);
  else expect([response.status, isCertain]).toEqual([404, false]);
  return response.status === 200;
}
