// A burst of small pushes to one repository, counted as the platform would bill it: what is one
// fact is written once, however many pushes it follows.
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/base/format/configured-limits.ts";
import type { Bill } from "../harness/metered/bill.ts";
import { type MeteredServer, startMeteredServer } from "../harness/metered/server.ts";
import { type MadeObject, makeCommit, makeObject, makeTree, packOf } from "../harness/pack-builder.ts";
import { sendPush } from "../harness/raw-push.ts";

const PUSHES = 20;

/** Rows that a small push itself writes. */
const PUSH_ROWS = 4;

/** After that the registry is told, and jobs that are due soon have run. */
const AFTER_MS = 10_000;

/** Until all that follows the first push is done. */
const SETTLED_MS = 3 * 24 * 60 * 60_000;

let server: MeteredServer;
let tip: MadeObject | null = null;

beforeAll(async () => {
  server = await startMeteredServer({ quietMs: DEFAULT_LIMITS.quietMs });
  await push(0);
  await server.advance(SETTLED_MS);
  await server.takeBill();
});
afterAll(async () => {
  await server.close();
  delete process.env["HOLDFAST_WORKER_DIR"];
});

/** Pushes a commit of one file to main. */
async function push(number: number): Promise<void> {
  const blob = makeObject("blob", `${number}\n`);
  const tree = makeTree(["100644", "file", blob]);
  const commit = makeCommit(tree, tip === null ? [] : [tip.oid], `${number}\n`);
  const commands = [{ name: "refs/heads/main", new: commit.oid, ...(tip !== null && { old: tip.oid }) }];
  const url = `${server.url.replace("://", `://git:${server.token}@`)}/bench/burst`;
  const { unpack, refs } = await sendPush(url, { commands, pack: packOf(blob, tree, commit) });
  expect([unpack, [...refs.values()]]).toEqual(["ok", [null]]);
  tip = commit;
}

/** What a burst cost, and what followed it. */
interface Burst {
  readonly work: Bill;
  readonly after: Bill;
  /** How often jobs could begin at most: once, and again where the machine took longer than they
   * wait. */
  readonly times: number;
}

async function burst(first: number, count: number): Promise<Burst> {
  const startMs = performance.now();
  for (let i = 0; i < count; i++) await push(first + i);
  const work = await server.takeBill();
  const times = 1 + Math.floor((performance.now() - startMs) / DEFAULT_LIMITS.quietMs);
  await server.advance(AFTER_MS);
  return { work, after: await server.takeBill(), times };
}

test("20 pushes in a row announce themselves, wake and note the token's use as one does", async () => {
  const one = await burst(1, 1);
  await server.advance(SETTLED_MS);
  await server.takeBill();
  const all = await burst(2, PUSHES);
  console.log(JSON.stringify(all));
  const sum = (measure: keyof Bill): number => all.work[measure] + all.after[measure];
  // Of each push: its ref, its chunk, its row of the log, the graph's row that its commit is
  // appended to. Once: a job, the alarm, the token's last use.
  expect(one.work).toMatchObject({ "repository rows written": PUSH_ROWS + 1, "registry rows written": 1 });
  const mostRows = PUSHES * PUSH_ROWS + all.times * (1 + one.after["repository rows written"]);
  expect(sum("repository rows written")).toBeLessThanOrEqual(mostRows);
  // Then the registry is told once, and one PUT brings the branch's file to the last push.
  expect(sum("registry rows written")).toBeLessThanOrEqual(1 + all.times);
  expect(sum("registry requests")).toBeLessThanOrEqual(one.work["registry requests"] + all.times);
  expect(sum("R2 class A operations")).toBeLessThanOrEqual(all.times);
  // An alarm that rings before it has been quiet for long enough is set again.
  expect(sum("alarms set")).toBeLessThanOrEqual(1 + 2 * all.times);
});
