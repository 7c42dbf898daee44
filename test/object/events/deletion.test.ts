/** Webhooks are told of a deletion by a job that outlives the repository, and a crash. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { MemoryChunkStore } from "../../harness/memory-chunk-store.ts";
import { ANYONE } from "../../harness/requester.ts";
import { PushedRepository } from "../pushing.ts";
import { NodeSql } from "../sqlite.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** A repository with a webhook, whose endpoint answers what `answer` says; null: it fails. */
async function open(answer: () => number | null) {
  const sql = new NodeSql();
  const chunks = new MemoryChunkStore();
  const ids: string[] = [];
  const receive: typeof fetch = async (_, init) => {
    ids.push(new Headers(init?.headers).get("webhook-id")!);
    const status = answer();
    if (status === null) throw new Error("nobody is there");
    return new Response(null, { status });
  };
  const start = () => new PushedRepository({ id: "deleted", sql, chunks, outside: { fetch: receive } });
  const pushed = start();
  await pushed.repository.create("main");
  const settings = { url: "https://ci.example.com/", format: "standard", events: null, origin: "", secret: null };
  expect(await pushed.repository.call("createWebhook", settings, ANYONE)).toMatchObject({ kind: "done" });
  return { start, pushed, ids };
}

const jobs = ({ repository }: PushedRepository) => repository.state.jobs.all().filter(({ kind }) => kind === "part");

test("an endpoint that is away for a while is told once, by whichever process is there", async () => {
  let status: number | null = null;
  const { start, pushed, ids } = await open(() => status);
  await pushed.repository.delete();
  expect(jobs(pushed)).toHaveLength(1);
  const next = start();
  for (const afterMs of [0, 10_000, MINUTE_MS]) {
    await next.repository.runJobs(Date.now() + afterMs);
    await sleep(5);
  }
  expect(ids.length).toBe(3);
  status = 204;
  await next.repository.runJobs(Date.now() + 5 * MINUTE_MS);
  await sleep(5);
  await next.repository.runJobs(Date.now() + DAY_MS);
  expect(ids).toEqual(Array(4).fill("deleted-0.1"));
  expect(jobs(next)).toEqual([]);
});

test.each([
  ["an endpoint that wants nothing more", () => 410, 1],
  ["one that fails for a day", () => 500, 25],
])("%s is left alone, and the database goes", async (_, answer, most) => {
  const { pushed, ids } = await open(answer);
  await pushed.repository.delete();
  for (let ms = 0; ms < 2 * DAY_MS; ms += 60 * MINUTE_MS) {
    await pushed.repository.runJobs(Date.now() + ms);
    await sleep(1);
  }
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.length).toBeLessThanOrEqual(most + 1);
  expect(pushed.repository.state.hasJobs).toBe(false);
});
