/** The events of all repositories of an owner, by real pushes to the real runtime. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnerEventPage, OwnerEventRecord } from "../../../src/contract/events.ts";
import { askApi } from "../../harness/api.ts";
import { EventReader } from "../../harness/event-reader.ts";
import { mostRows } from "../../harness/commit-rows.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { ADMIN_TOKEN, WITH_TOKENS } from "../../harness/shared-server.ts";

const OPERATOR = { Authorization: `Bearer ${ADMIN_TOKEN}` };
let server: Server;
let history: string;

beforeAll(async () => {
  server = await startServer({ vars: WITH_TOKENS, constants: { DELIVERY_LEASE_MS: 1_000, FIRST_RETRY_MS: 200 } });
  history = await makeHistory({ commits: 30, files: 3 });
});
afterAll(() => server.close());

const urlOf = (name: string): string => `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/${name}`;
const push = (name: string, ...args: readonly string[]) => git(history, "push", "-q", urlOf(name), ...args);
const read = async (owner: string, query = "", headers: Record<string, string> = OPERATOR) =>
  askApi<OwnerEventPage>(server, `/owners/${owner}/events${query}`, { headers });

async function call<Body>(method: string, path: string, json?: unknown, headers = OPERATOR): Promise<Body> {
  const { status, body } = await askApi<Body>(server, path, { method, json, headers });
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
}

const tokenFor = async (json: object) => {
  const { token } = await call<{ token: string }>("POST", "/tokens", { name: "reader", right: "read", ...json });
  return { Authorization: `Bearer ${token}` };
};

const setStatus = (name: string, context: string) =>
  call("POST", `/repos/${name}/commits/main/statuses`, { state: "success", context });

/** Reads an owner's log until it has so many events.
 * @throws Error when it takes longer than 20 seconds */
async function awaitEvents(owner: string, count: number, after = 0): Promise<readonly OwnerEventRecord[]> {
  for (const endMs = Date.now() + 20_000; ; await sleep(50)) {
    const { events } = (await read(owner, `?limit=100&after=${after}`)).body;
    if (events.length >= count) return events;
    if (Date.now() > endMs) throw new Error(`there are ${events.length} events, where ${count} were expected`);
  }
}

/** An event in words. */
const say = ({ type, repository: { owner, name, event }, data }: OwnerEventRecord): string =>
  [`${owner}/${name}`, event, type, (data["action"] as string | undefined) ?? ""].join(" ").trimEnd();

test("the log begins when it is read, and tells what happens to each repository, old or new, in order", async () => {
  await push("own/old", "HEAD~29:refs/heads/main");
  await push("own/quiet", "HEAD~29:refs/heads/main");
  const before = Date.now();
  const { body: first } = await read("own");
  expect(first).toMatchObject({ events: [], next: "0", more: false, missed: false });
  expect(Date.parse(first.since)).toBeGreaterThanOrEqual(before);
  await push("own/old", "HEAD~28:refs/heads/main", "HEAD~28:refs/tags/v1");
  await push("own/new", "HEAD~29:refs/heads/main");
  // Without a push, a repository must have heard by itself that somebody listens.
  await setStatus("own/quiet", "ci");
  await call("PATCH", "/repos/own/quiet", { visibility: "public" });
  await call("POST", "/repos/own/old/forks", { name: "fork" });
  await push("own/old", "HEAD~27:refs/heads/main");
  const events = await awaitEvents("OWN", 8);
  const told = events.map(say);
  expect(told.toSorted()).toEqual(
    [
      "own/fork 0 repository forked",
      "own/new 0 repository created",
      "own/new 1 push",
      "own/old 2 push",
      "own/old 3 push",
      "own/quiet 1.1 status",
      "own/quiet 1.2 repository published",
      "own/fork 1 push",
    ].toSorted(),
  );
  expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => `${i + 1}`));
  for (const name of ["old", "new", "quiet", "fork"]) {
    const places = events
      .filter(({ repository }) => repository.name === name)
      .map(({ repository }) => repository.event);
    expect(places).toEqual(places.toSorted((a, b) => Number(a) - Number(b)));
  }
  const { commits } = (
    events.find((one) => say(one) === "own/old 2 push")!.data["refs"] as { commits: object[] }[]
  )[0]!;
  expect(commits).toMatchObject([{ oid: await git(history, "rev-parse", "HEAD~28") }]);
  // In pages.
  const page = (await read("own", "?after=2&limit=3")).body;
  expect(page).toMatchObject({ next: "5", more: true, since: first.since });
  expect(page.events.map(({ id }) => id)).toEqual(["3", "4", "5"]);
});

test("a long poll and a stream tell of any repository, also after a restart", { tags: "sweep" }, async () => {
  await push("live/one", "HEAD~29:refs/heads/main");
  const polled = read("live", "?after=latest&wait=20");
  await sleep(1_000);
  await push("live/one", "HEAD~28:refs/heads/main");
  expect((await polled).body).toMatchObject({ events: [{ id: "1", type: "push" }], next: "1" });
  const path = `${server.url}/api/owners/live/events`;
  const headers = { Accept: "text/event-stream", ...OPERATOR };
  const stream = await EventReader.open(path, headers);
  await push("live/two", "HEAD~29:refs/heads/main");
  expect(await stream.next()).toMatchObject({ id: "2", type: "repository", repository: { name: "two", event: "0" } });
  expect(await stream.next()).toMatchObject({ id: "3", type: "push", repository: { name: "two", event: "1" } });
  stream.close();
  await server.kill();
  await server.restart();
  const again = await EventReader.open(path, { ...headers, "Last-Event-ID": "3" });
  await push("live/one", "HEAD~27:refs/heads/main");
  expect(await again.next()).toMatchObject({ id: "4", repository: { name: "one", event: "3" } });
  again.close();
});

test(
  "a repository that changes its owner is told of to both, then to the new one; a deletion, too",
  { tags: "sweep" },
  async () => {
    await push("from/given", "HEAD~29:refs/heads/main");
    await push("from/unheard", "HEAD~29:refs/heads/main");
    await read("from");
    await push("from/given", "HEAD~28:refs/heads/main");
    await awaitEvents("from", 1);
    await read("to");
    await call("PATCH", "/repos/from/given", { owner: "to" });
    await push("to/given", "HEAD~27:refs/heads/main");
    await call("PATCH", "/repos/to/given", { name: "taken" });
    // What had not been told before a deletion is not told any more.
    await awaitEvents("to", 3);
    await call("DELETE", "/repos/to/taken");
    const former = await awaitEvents("from", 2);
    expect(former.map((one) => [one.type, one.repository.event, one.data["to"]])).toEqual([
      ["push", "2", undefined],
      ["repository", "2.1", "to/given"],
    ]);
    const told = (await awaitEvents("to", 4)).map((one) => [one.type, one.repository.event, one.data["action"]]);
    expect(told).toEqual([
      ["repository", "2.1", "renamed"],
      ["push", "3", undefined],
      ["repository", "3.2", "renamed"],
      ["repository", "3.3", "deleted"],
    ]);
    // To an owner nobody listens to, and back.
    await call("PATCH", "/repos/from/unheard", { owner: "nobody" });
    await push("nobody/unheard", "HEAD~28:refs/heads/main");
    await call("PATCH", "/repos/nobody/unheard", { owner: "from" });
    await push("from/unheard", "HEAD~27:refs/heads/main");
    const back = (await awaitEvents("from", 3, 2)).map((one) => [one.repository.event, one.data["to"]]);
    expect(back).toEqual([
      ["1.1", "nobody/unheard"],
      ["2.2", "from/unheard"],
      ["3", undefined],
    ]);
  },
);

test("who may read all that an owner has reads the log; who may write sees who did it, an admin tokens", async () => {
  await push("seen/one", "HEAD~29:refs/heads/main");
  await call("PATCH", "/repos/seen/one", { visibility: "public" });
  await read("seen");
  await tokenFor({ owner: "seen", repository: "one" });
  await push("seen/one", "HEAD~28:refs/heads/main");
  await awaitEvents("seen", 2);
  const seenBy = async (headers: Record<string, string>) => {
    const { status, body } = await read("seen", "", headers);
    return status === 200 ? body.events.map(({ type, who }) => [type, who]) : status;
  };
  expect(await seenBy(await tokenFor({ owner: "seen" }))).toEqual([["push", null]]);
  expect(await seenBy(await tokenFor({ owner: "seen", right: "write" }))).toEqual([["push", "operator"]]);
  expect(await seenBy(await tokenFor({ owner: "seen", right: "admin" }))).toEqual([
    ["token", "operator"],
    ["push", "operator"],
  ]);
  expect(await seenBy(await tokenFor({ owner: "seen", repository: "one", right: "admin" }))).toBe(403);
  expect(await seenBy(await tokenFor({ owner: "live" }))).toBe(403);
  expect(await seenBy({})).toBe(401);
  expect((await read("seen", "?wait=5", {})).status).toBe(401);
  expect((await read("no%20owner")).status).toBe(422);
  expect((await read("seen", "?after=x")).status).toBe(422);
});

test("a push writes one row more while somebody listens, and none before", async () => {
  await push("rows/one", "HEAD~29:refs/heads/main");
  await mostRows(server, "rows/one", 1, OPERATOR);
  const before = await mostRows(server, "rows/one", 6, OPERATOR);
  await read("rows");
  await mostRows(server, "rows/one", 1, OPERATOR);
  await awaitEvents("rows", 1);
  expect((await mostRows(server, "rows/one", 6, OPERATOR)) - before).toBe(1);
});
