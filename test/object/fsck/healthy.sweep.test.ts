/** Whatever comes in, and whatever housekeeping does, fsck finds no problem. */
import { expect, test } from "vitest";
import { housekeep } from "../maintenance/housekeep.ts";
import { TinyPushes } from "../maintenance/tiny-pushes.ts";
import { PushedRepository } from "../pushing.ts";
import { check, fill } from "./checked-repository.ts";

const HOUR_MS = 60 * 60_000;

test("a healthy repository has no problem, whatever came in and housekeeping did", async () => {
  const repository = new PushedRepository({
    worktrees: "default-branch",
    limits: { pruneGraceMs: 0, minBundleBytes: 0, bundleDelayMs: 0 },
  });
  await fill(repository);
  const fresh = await check(repository, { rules: "default" });
  expect(fresh.problems).toEqual([]);
  const { objects, graph, chunks } = repository.tables;
  expect(fresh.checked).toMatchObject({
    objects: objects.present().size,
    nodes: graph.length,
    chunks: chunks.allInOrder().length,
    skippedNodes: 0,
    refs: repository.refs().size,
  });

  await new TinyPushes(repository, { noiseBytes: 30_000 }).push(66, "refs/heads/many");
  await housekeep(repository, Date.now() + HOUR_MS / 2);
  const kept = await check(repository);
  expect(kept.problems).toEqual([]);
  expect(kept.checked.files).toBeGreaterThan(20);
  expect(kept.checked.keys).toBeGreaterThan(kept.checked.files);

  // One call for each step gives the same result.
  const stepwise = await check(repository, { budgetSteps: 0 });
  expect(stepwise).toEqual({ ...kept, calls: expect.any(Number) });
  expect(stepwise.calls).toBeGreaterThan(20);

  const tip = repository.refs().get("refs/heads/many")!;
  await repository.push(
    [
      ["refs/heads/many", tip, null],
      ["refs/tags/v0", repository.refs().get("refs/tags/v0")!, null],
    ],
    null,
  );
  await housekeep(repository, Date.now() + 3 * HOUR_MS);
  expect(repository.tables.objects.pruned().size).toBeGreaterThan(200);
  expect((await check(repository)).problems).toEqual([]);
});
