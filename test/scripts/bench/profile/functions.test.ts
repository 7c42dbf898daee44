import { expect, test } from "vitest";
import { listFunctions, sumBusy, sumLayers } from "../../../../scripts/bench/profile/tables.ts";
import { makeProfile, PUSH } from "./made-up-profile.ts";

test("an isolate was busy for the time of all samples but those that are idle", () => {
  expect(sumBusy(listFunctions(PUSH))).toBe(9);
  expect(listFunctions(PUSH).map(({ name }) => name)).not.toContain("(idle)");
});

test("the total of a function that calls itself counts once", () => {
  const costs = listFunctions(PUSH).map(({ name, place, selfMs, totalMs }) => [name, place, selfMs, totalMs]);
  expect(costs).toEqual([
    ['inflate<Map & "Set">', "wasm", 3, 3],
    ["exec", "", 2, 2],
    ["store", "src/object/push/apply-push.ts:10", 2, 7],
    ["(garbage collector)", "", 1, 1],
    ["take", "src/object/push/receive-pack.ts:10", 1, 8],
  ]);
});

test("what runs is told by layer", () => {
  const profile = makeProfile(
    [
      ["encodeOid", "src/base/format/oid.ts", null],
      ["parse", "node_modules/zod/core.js", null],
      ["__name", "main.js", null],
      ["Buffer.from", "node-internal:internal_buffer", null],
      ["", "src/worker/worker.ts", null],
    ],
    [0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4],
  );
  expect([...sumLayers(listFunctions(profile))]).toEqual([
    ["worker", 5],
    ["workerd", 4],
    ["bundler", 3],
    ["node_modules", 2],
    ["base/format", 1],
  ]);
});

test("equal functions that V8 tells apart are one", () => {
  const twice = makeProfile(
    [
      ["run", "src/object/job.ts", null],
      ["run", "src/object/job.ts", null],
      ["exec", "", 0],
      ["exec", "", 1],
    ],
    [2, 3, 3],
  );
  expect(listFunctions(twice)).toMatchObject([
    { name: "exec", selfMs: 3, totalMs: 3 },
    { name: "run", selfMs: 0, totalMs: 3 },
  ]);
});
