import { expect, test } from "vitest";
import { FaultyChunkStore, type FaultPlan, NO_FAULTS } from "../../harness/faulty-chunk-store.ts";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { PushedRepository } from "../pushing.ts";
import { TinyPushes } from "./tiny-pushes.ts";
import { ANYONE } from "../../harness/requester.ts";
import { newClient, type RepositoryClient } from "../../../src/contract/calls.ts";

test("the status says what there is, what waits and what was done", async () => {
  const plan: { faults: FaultPlan } = { faults: NO_FAULTS };
  const chunks = new FaultyChunkStore(new MemoryChunkStore(), (call) => plan.faults(call));
  const repository = new PushedRepository({ chunks, limits: { minBundleBytes: Number.MAX_SAFE_INTEGER } });
  const client = newClient<RepositoryClient>((name, argument) => repository.repository.call(name, argument, ANYONE));
  await expect(client.maintenance()).rejects.toMatchObject({ code: "not-found" });
  await expect(client.maintain(["repack"])).rejects.toMatchObject({ code: "not-found" });
  const pushes = new TinyPushes(repository);
  await pushes.push(5);
  expect(await client.maintenance()).toMatchObject({
    objects: repository.tables.objects.lastNumber(),
    commits: 5,
    refs: 1,
    // In each push a delta precedes its base.
    chunks: { hot: 5, unmerged: 5, sealed: 0, unwhole: 5 },
    bytes: repository.tables.chunks.hot().sizeBytes,
    hotBytes: repository.tables.chunks.hot().sizeBytes,
    r2Objects: 0,
    jobs: [],
    lastRuns: {},
  });
  const after = await client.maintain(["repack"]);
  expect(after).toMatchObject({
    chunks: { hot: 1, unmerged: 0, unwhole: 0 },
    jobs: [],
    lastRuns: { repack: { chunks: 5 } },
  });
  expect(Object.keys(after.lastRuns)).toEqual(["repack"]);
  expect(after.lastRuns.repack!.timeMs).toBeGreaterThan(Date.now() - 60_000);

  plan.faults = ({ operation }) => (operation === "delete" ? "before" : null);
  repository.tables.jobs.add("sweep", "nothing", 0);
  const failed = await client.maintain(["seal"]);
  expect(failed.jobs).toMatchObject([
    { kind: "sweep", key: "nothing", attempts: 1, lastError: expect.stringContaining("planned fault") },
  ]);
});
