/** With a queue bound, every event goes there, too, as the runtime's own simulator of queues takes
 * it. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { git } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { Receiver } from "../harness/receiver.ts";
import { type Server, startServer } from "../harness/server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

interface Told {
  readonly type: string;
  readonly id: string;
  readonly data: { readonly action?: string; readonly repository: { readonly name: string; readonly url?: string } };
}

let history: string;
let receiver: Receiver;
const open: Server[] = [];

beforeAll(async () => {
  history = await makeHistory({ commits: 30, files: 3 });
  receiver = await Receiver.open();
});
afterAll(async () => {
  for (const server of open) await server.close();
  receiver.close();
});

async function start(options: Parameters<typeof startServer>[0] = {}): Promise<Server> {
  const constants = { DELIVERY_LEASE_MS: 1_000, FIRST_RETRY_MS: 200, FIRST_AGAIN_MS: 300 };
  const server = await startServer({ constants, ...options });
  open.push(server);
  return server;
}

const push = ({ url }: Server, name: string, ...args: readonly string[]) =>
  git(history, "push", "-q", `${url}/${name}`, ...args);

/** What has come of a repository's events, in the order in which it came. */
const toldOf = (name: string): Told[] =>
  receiver.received.map(({ body }) => JSON.parse(body) as Told).filter(({ data }) => data.repository.name === name);

async function awaitTold(name: string, ids: readonly string[]): Promise<Told[]> {
  for (const endMs = Date.now() + 20_000; Date.now() < endMs; await sleep(50))
    if (ids.every((id) => toldOf(name).some((one) => one.id === id))) break;
  const told = toldOf(name);
  expect([...new Set(told.map(({ id }) => id))].toSorted()).toEqual(ids.toSorted());
  return told;
}

test("a repository is told whole, from its creation to its deletion, and webhooks are as they were", async () => {
  const server = await start({ queue: receiver.url });
  await push(server, "queued/whole", "HEAD~20:refs/heads/main");
  await push(server, "queued/whole", "HEAD~19:refs/heads/main", "HEAD~19:refs/tags/v1");
  const json = { state: "success", context: "ci" };
  await askApi(server, "/repos/queued/whole/commits/main/statuses", { method: "POST", json });
  await awaitTold("whole", ["0", "1", "2", "2.1"]);
  const { body } = await askApi<{ webhooks: unknown[] }>(server, "/repos/queued/whole/webhooks");
  expect(body.webhooks).toEqual([]);
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "/deliveries"],
    ["POST", "/pings"],
  ] as const)
    expect((await askApi(server, `/repos/queued/whole/webhooks/queue${path}`, { method })).status, path).toBe(404);
  await askApi(server, "/repos/queued/whole", { method: "DELETE" });
  const told = await awaitTold("whole", ["0", "1", "2", "2.1", "2.2"]);
  const byId = new Map(told.map((one) => [one.id, one]));
  expect(["0", "1", "2", "2.1", "2.2"].map((id) => [byId.get(id)!.type, byId.get(id)!.data.action])).toEqual([
    ["repository", "created"],
    ["push", undefined],
    ["push", undefined],
    ["status", undefined],
    ["repository", "deleted"],
  ]);
  expect(byId.get("2")!.data.repository).toEqual({ id: expect.any(String), owner: "queued", name: "whole" });
});

test("a burst comes whole, through a consumer that fails at times", { tags: "sweep" }, async () => {
  const server = await start({ queue: receiver.url });
  let count = 0;
  receiver.answer = (_, response) => response.writeHead(++count % 3 === 0 ? 500 : 204).end();
  const ids = Array.from({ length: 20 }, (_, i) => `${i}`);
  for (const id of ids.slice(1)) await push(server, "queued/burst", `HEAD~${29 - Number(id)}:refs/heads/main`);
  await awaitTold("burst", ids);
  receiver.answer = (_, response) => response.writeHead(204).end();
});

test(
  "a queue that is bound later gets what happens from then on; one that is gone is not asked",
  { tags: "sweep" },
  async () => {
    const persistDir = makeTempDir("queued");
    const before = await start({ persistDir });
    await push(before, "queued/later", "HEAD~20:refs/heads/main");
    await before.close();
    const bound = await start({ persistDir, queue: receiver.url });
    await push(bound, "queued/later", "HEAD~19:refs/heads/main");
    await push(bound, "queued/later", "HEAD~18:refs/heads/main");
    await awaitTold("later", ["2", "3"]);
    await bound.close();
    const after = await start({ persistDir });
    await push(after, "queued/later", "HEAD~17:refs/heads/main");
    await after.close();
    const again = await start({ persistDir, queue: receiver.url });
    await push(again, "queued/later", "HEAD~16:refs/heads/main");
    await awaitTold("later", ["2", "3", "4", "5"]);
  },
);
