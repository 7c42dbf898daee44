import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";
import { testSome } from "../harness/sweep.ts";
import { expectFewPuts, KIB, makeNoise, MB, newRemote, pushAndClone } from "./counted-push.ts";

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** The bytes of a push besides its random data: commit, tree, headers, trailer. */
const OVERHEAD_BYTES = KIB;

testSome(1, [10, 1], "a push under 256 KiB costs no R2 operation, in %i files", async (files) => {
  const noise = await makeNoise(files, Math.floor((256 * KIB - 3 * OVERHEAD_BYTES) / files));
  const { push, fetch } = await pushAndClone(server, noise);
  expect(push.packBytes).toBeGreaterThan(250 * KIB);
  expect(push.packBytes).toBeLessThan(256 * KIB);
  expect(push.operations).toEqual({ puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0, bytesIn: 0, bytesOut: 0 });
  // Nor does a fetch of hot chunks.
  expect(fetch.operations.gets).toBe(0);
});

// `r2-operations.sweep.test.ts` has further sizes.
test("a push of 257 KiB in 257 files costs a PUT for every 2 MB and 2 more at the most", () =>
  expectFewPuts(server, 257, KIB));

test("a ref moved without a pack, and one deleted, cost no R2 operation", async () => {
  const origin = await makeNoise(1, 100);
  const url = newRemote(server);
  await git(origin, "push", "-q", url, "main");
  await git(origin, "push", "-q", url, "main:refs/heads/same");
  await git(origin, "push", "-q", url, ":refs/heads/same");
  for (let i = 0; i < 3; i++) {
    const { operations } = await server.takeEvent("push");
    expect(operations).toMatchObject({ puts: 0, parts: 0, gets: 0, deletes: 0, lists: 0 });
  }
});

test("a push of small changes to a repository that lies in R2 costs no R2 operation", { tags: "sweep" }, async () => {
  const origin = await makeNoise(5, MB);
  const url = newRemote(server);
  await git(origin, "push", "-q", url, "main");
  await server.takeEvent("push");
  for (let i = 0; i < 5; i++) {
    writeFileSync(join(origin, "noise-0"), `small ${i}`);
    await git(origin, "commit", "-q", "-am", `small ${i}`);
    await git(origin, "push", "-q", url, "main");
    expect((await server.takeEvent("push")).operations).toMatchObject({ puts: 0, parts: 0, gets: 0 });
  }
});
