/** The event log: as pages, as a long poll and as a stream, by real pushes to the real runtime. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventPage, RepositoryEventRecord } from "../../../src/contract/events.ts";
import type { DescribedPush } from "../../../src/object/events/described-push.ts";
import { askApi } from "../../harness/api.ts";
import { EventReader } from "../../harness/event-reader.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { ADMIN_TOKEN, WITH_TOKENS } from "../../harness/shared-server.ts";

const OPERATOR = { Authorization: `Bearer ${ADMIN_TOKEN}` };
/** How long an isolate relies on what it knows of a token here; the default is ten seconds. */
const ANSWER_LIFE_MS = 500;
/** Listeners of one repository. */
const LISTENERS = [100, 500];
let server: Server;
let history: string;

beforeAll(async () => {
  server = await startServer({ vars: WITH_TOKENS, constants: { HEARTBEAT_MS: 300, ANSWER_LIFE_MS } });
  history = await makeHistory({ commits: 30, files: 3 });
});
afterAll(() => server.close());

const urlOf = (name: string): string => `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${name}`;
const push = (name: string, ...args: readonly string[]) => git(history, "push", "-q", urlOf(name), ...args);
const ask = async (path: string, headers: Record<string, string> = OPERATOR) =>
  askApi<EventPage>(server, path, { headers });
const pushOf = (event: RepositoryEventRecord | undefined) => event?.data as unknown as DescribedPush;

async function readAll(name: string): Promise<RepositoryEventRecord[]> {
  const events: RepositoryEventRecord[] = [];
  for (let after = ""; ;) {
    const { status, body } = await ask(`/repos/${name}/events?limit=2${after}`);
    expect(status).toBe(200);
    events.push(...body.events);
    if (!body.more) return events;
    after = `&after=${body.next}`;
  }
}

test("the log tells of pushes, and of changes of the repository, in their order", async () => {
  await push("events/log", "HEAD~25:refs/heads/main");
  await push("events/log", "HEAD~20:refs/heads/main", "HEAD~22:refs/heads/side", "HEAD~22:refs/tags/v1");
  await askApi(server, "/repos/events/log", { method: "PATCH", json: { visibility: "public" }, headers: OPERATOR });
  await askApi(server, "/repos/events/log", { method: "PATCH", json: { name: "renamed" }, headers: OPERATOR });
  await push("events/renamed", "+HEAD~26:refs/heads/main", ":refs/heads/side");
  const events = await readAll("events/renamed");
  expect(events.map(({ id, type, data }) => [id, type, data["action"] ?? data["refCount"]])).toEqual([
    ["0", "repository", "created"],
    ["1", "push", 1],
    ["2", "push", 3],
    ["2.1", "repository", "published"],
    ["2.2", "repository", "renamed"],
    ["3", "push", 2],
  ]);
  expect(events[4]!.data).toEqual({ action: "renamed", from: "events/log", to: "events/renamed" });
  const oidsOf = async (range: string) => (await git(history, "rev-list", range)).split("\n");
  const [main] = pushOf(events[2]).refs;
  // What no ref reaches any more is no longer told; the tag reaches the rest.
  expect(main).toMatchObject({ name: "refs/heads/main", forced: false, commits: null });
  expect(pushOf(events[1]).refs[0]!.commits!.map(({ oid }) => oid)).toEqual(await oidsOf("HEAD~25"));
  const [forced, deleted] = pushOf(events[5]).refs;
  expect(forced).toMatchObject({ forced: true, new: (await oidsOf("HEAD~26"))[0] });
  expect(deleted).toMatchObject({ name: "refs/heads/side", new: null, forced: false, commits: [] });
});

test("the log tells of locks, and admins of tokens for the repository", async () => {
  await push("events/locked", "HEAD~25:refs/heads/main");
  const call = async <Body>(method: string, path: string, json?: unknown, headers = OPERATOR): Promise<Body> => {
    const answer = await askApi<Body>(server, path, { method, json, headers });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const lfs = async (path: string, json: object): Promise<{ lock: { id: string } }> => {
    const headers = { ...OPERATOR, "Content-Type": "application/vnd.git-lfs+json" };
    const answer = await fetch(`${server.url}/events/locked.git/info/lfs/locks${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(json),
    });
    return (await answer.json()) as { lock: { id: string } };
  };
  const { lock } = await lfs("", { path: "art/ü.psd" });
  // A second attempt locks nothing.
  await lfs("", { path: "art/ü.psd" });
  await lfs(`/${lock.id}/unlock`, {});
  const wanted = { owner: "events", repository: "locked", name: "reader", right: "read" };
  const { id, token } = await call<{ id: string; token: string }>("POST", "/tokens", wanted);
  await call("POST", "/tokens", { ...wanted, repository: undefined, name: "of all" });
  const { body: seen } = await ask("/repos/events/locked/events?after=1", { Authorization: `Bearer ${token}` });
  await call("DELETE", `/tokens/${id}`);
  const told = (await readAll("events/locked")).slice(2).map(({ type, who, data }) => [type, who, data]);
  const file = { id: lock.id, path: "art/ü.psd", ref: null };
  const made = { id, name: "reader", right: "read" };
  expect(told).toEqual([
    ["lock", "operator", { action: "locked", ...file }],
    ["lock", "operator", { action: "unlocked", ...file }],
    ["token", "operator", { action: "created", ...made }],
    ["token", "operator", { action: "revoked", ...made }],
  ]);
  expect(seen.events.map(({ type, who }) => [type, who])).toEqual([
    ["lock", null],
    ["lock", null],
  ]);
  expect(JSON.stringify(told)).not.toContain(token);
});

test("a push tells the newest twenty commits that a branch has gained", async () => {
  await push("events/commits", "HEAD~28:refs/heads/main");
  await push("events/commits", "HEAD~25:refs/heads/main", "HEAD~1:refs/heads/side");
  const { body } = await ask("/repos/events/commits/events?after=1");
  const [main, side] = pushOf(body.events[0]).refs;
  const expected = async (...args: string[]) => (await git(history, "rev-list", ...args)).split("\n");
  expect(main!.commits!.map(({ oid }) => oid)).toEqual(await expected("HEAD~28..HEAD~25"));
  expect(side!.commits!.map(({ oid }) => oid)).toEqual(await expected("-17", "HEAD~25..HEAD~1"));
});

test("a reader sees who did it only with the right to write, and nobody else sees anything", async () => {
  await push("events/shown", "HEAD~29:refs/heads/main");
  expect((await ask("/repos/events/shown/events?after=0")).body.events[0]!.who).toBe("operator");
  expect((await ask("/repos/events/shown/events?wait=5", {})).status).toBe(401);
  await askApi(server, "/repos/events/shown", { method: "PATCH", json: { visibility: "public" }, headers: OPERATOR });
  expect((await ask("/repos/events/shown/events?after=0", {})).body.events[0]!.who).toBeNull();
});

test.each(["x", "1.", "-1", "1.2.3", "9".repeat(30)])("after=%s is refused", async (after) => {
  expect((await ask(`/repos/events/shown/events?after=${after}`)).status).toBe(422);
});

test("a long poll answers as soon as something happens, and empty when nothing does", async () => {
  await push("events/polled", "HEAD~29:refs/heads/main");
  const began = Date.now();
  const polled = ask("/repos/events/polled/events?after=latest&wait=20");
  await sleep(500);
  await push("events/polled", "HEAD~28:refs/heads/main");
  const { body } = await polled;
  expect(body).toMatchObject({ events: [{ id: "2", type: "push" }], next: "2", more: false, missed: false });
  expect(Date.now() - began).toBeLessThan(10_000);
  expect((await ask("/repos/events/polled/events?after=2&wait=1")).body).toMatchObject({ events: [], next: "2" });
});

test(
  "a stream tells each event once, goes on after a restart, and ends with the right to read",
  { tags: "sweep" },
  async () => {
    await push("events/streamed", "HEAD~29:refs/heads/main");
    const made = await askApi<{ id: string; token: string }>(server, "/tokens", {
      method: "POST",
      headers: OPERATOR,
      json: { owner: "events", name: "reader", right: "read" },
    });
    const path = `${server.url}/api/repos/events/streamed/events`;
    const headers = { Accept: "text/event-stream", Authorization: `Bearer ${made.body.token}` };
    const first = await EventReader.open(path, headers);
    await push("events/streamed", "HEAD~28:refs/heads/main");
    expect((await first.next()).id).toBe("2");
    await first.comment();
    await server.restart();
    await push("events/streamed", "HEAD~27:refs/heads/main", "HEAD~28:refs/heads/side");
    const again = await EventReader.open(path, { ...headers, "Last-Event-ID": "2" });
    expect(await again.next()).toMatchObject({ id: "3", type: "push", who: null, data: { refCount: 2 } });
    await askApi(server, `/tokens/${made.body.id}`, { method: "DELETE", headers: OPERATOR });
    // For as long as an isolate may rely on what it knows, the token may still be valid.
    await sleep(ANSWER_LIFE_MS + 500);
    await push("events/streamed", "HEAD~26:refs/heads/main");
    await expect(again.next()).rejects.toThrow("the stream has ended");
    expect((await fetch(path, { headers })).status).toBe(401);
  },
);

test.for(LISTENERS)(
  "%d listeners hear of a push at once, and go on after the server was killed",
  { tags: "sweep" },
  async (listeners) => {
    const name = `events/heard-${listeners}`;
    await push(name, "HEAD~29:refs/heads/main");
    const headers = { Accept: "text/event-stream", ...OPERATOR };
    const listen = (after: Record<string, string>): Promise<EventReader[]> =>
      Promise.all(
        Array.from({ length: listeners }, () =>
          EventReader.open(`${server.url}/api/repos/${name}/events`, { ...headers, ...after }),
        ),
      );
    const readers = await listen({});
    const heard = readers.map(async (reader) => ({ id: (await reader.next()).id, atMs: Date.now() }));
    await push(name, "HEAD~28:refs/heads/main");
    const pushedMs = Date.now();
    const times = await Promise.all(heard);
    expect(times.every(({ id }) => id === "2")).toBe(true);
    const last = Math.max(...times.map(({ atMs }) => atMs)) - pushedMs;
    console.log(`the last of ${listeners} heard of the push ${last} ms after git had ended`);
    expect(last).toBeLessThan(5_000);
    for (const reader of readers) reader.close();
    await server.kill();
    await server.restart();
    await push(name, "HEAD~27:refs/heads/main");
    const again = await listen({ "Last-Event-ID": "2" });
    await push(name, "HEAD~26:refs/heads/main");
    for (const reader of again) expect([(await reader.next()).id, (await reader.next()).id]).toEqual(["3", "4"]);
    for (const reader of again) reader.close();
  },
);
