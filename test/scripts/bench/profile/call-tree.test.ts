import { expect, test } from "vitest";
import { foldProfile, listFunctions, sumLayers } from "../../../../scripts/bench/profile/call-tree.ts";
import { makeProfile, PUSH } from "./made-up-profile.ts";

test("a tree has the time of all samples but those that are idle", () => {
  const root = foldProfile(PUSH);
  expect(root.totalMs).toBe(9);
  expect(root.children.map(({ name, selfMs, totalMs }) => [name, selfMs, totalMs])).toEqual([
    ["(garbage collector)", 1, 1],
    ["take", 1, 8],
  ]);
});

test("the total of a function that calls itself counts once", () => {
  const costs = listFunctions(foldProfile(PUSH)).map(({ name, place, selfMs, totalMs }) => [
    name,
    place,
    selfMs,
    totalMs,
  ]);
  expect(costs).toEqual([
    ['inflate<Map & "Set">', "wasm", 3, 3],
    ["exec", "", 2, 2],
    ["settle", "src/repository/push/apply-push.ts:10", 2, 7],
    ["(garbage collector)", "", 1, 1],
    ["take", "src/repository/push/receive-pack.ts:10", 1, 8],
  ]);
});

test("what runs is told by layer", () => {
  const profile = makeProfile(
    [
      ["encodeOid", "src/format/oid.ts", null],
      ["parse", "node_modules/zod/core.js", null],
      ["__name", "worker.js", null],
      ["Buffer.from", "node-internal:internal_buffer", null],
      ["", "src/host/worker.ts", null],
    ],
    [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4],
  );
  expect([...sumLayers(foldProfile(profile))]).toEqual([
    ["host", 5],
    ["workerd", 4],
    ["bundler", 3],
    ["node_modules", 2],
    ["format", 1],
  ]);
});

test("equal functions that V8 tells apart are one frame", () => {
  const twice = makeProfile(
    [
      ["run", "src/repository/job.ts", null],
      ["run", "src/repository/job.ts", null],
      ["exec", "", 0],
      ["exec", "", 1],
    ],
    [2, 3, 3],
  );
  const [run] = foldProfile(twice).children;
  expect(run!.children).toHaveLength(1);
  expect(run!.children[0]).toMatchObject({ name: "exec", selfMs: 3, totalMs: 3 });
});
