/** Checks tell what they have found of commits, and whoever listens hears of it. */
import { beforeAll, expect, test } from "vitest";
import type { EventPage, CommitStatuses } from "../../../src/contract/events.ts";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import type { Server } from "../../harness/server.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;
let history: string;
let reader: string;

const ask = <Body = CommitStatuses>(method: string, path: string, json?: unknown, token = ADMIN_TOKEN) =>
  askApi<Body>(server, path, { method, json, headers: { Authorization: `Bearer ${token}` } });
const set = (json: object, ref = "main", token = ADMIN_TOKEN) =>
  ask("POST", `/repos/statuses/repo/commits/${ref}/statuses`, json, token);
const list = (ref = "main", token = ADMIN_TOKEN) =>
  ask("GET", `/repos/statuses/repo/commits/${ref}/statuses`, undefined, token);

beforeAll(async () => {
  server = await shareServer("statuses", WITH_TOKENS);
  history = await makeHistory({ commits: 3, files: 2 });
  await git(
    history,
    "push",
    "-q",
    `${server.url.replace("://", `://git:${ADMIN_TOKEN}@`)}/statuses/repo`,
    "HEAD:refs/heads/main",
  );
  const made = await ask<{ token: string }>("POST", "/tokens", { owner: "statuses", name: "reader", right: "read" });
  reader = made.body.token;
});

test("the last word in each context counts, and the worst of them for the commit", async () => {
  const oid = await git(history, "rev-parse", "HEAD");
  expect((await list()).body).toEqual({ oid, state: "pending", statuses: [] });
  expect((await set({ state: "pending", context: "ci/tests" })).status).toBe(201);
  await set({ state: "success" });
  expect((await list()).body.state).toBe("pending");
  await set({ state: "success", context: "ci/tests", description: "42 passed", url: "https://ci.example.com/7" });
  const { body } = await list(oid);
  expect(body).toMatchObject({
    oid,
    state: "success",
    statuses: [
      {
        context: "ci/tests",
        state: "success",
        description: "42 passed",
        url: "https://ci.example.com/7",
        who: "operator",
      },
      { context: "default", state: "success", description: null, url: null },
    ],
  });
  expect((await set({ state: "error", context: "ci/lint" })).body.state).toBe("failure");
  expect((await list("main~1")).body.statuses).toEqual([]);
});

test("whoever listens hears of it", async () => {
  const { body: before } = await ask<EventPage>("GET", "/repos/statuses/repo/events?after=latest");
  const heard = ask<EventPage>("GET", `/repos/statuses/repo/events?after=${before.next}&wait=20`);
  await set({ state: "failure", context: "ci/heard" }, "main~1");
  const commit = await git(history, "rev-parse", "HEAD~1");
  const data = { commit, state: "failure", context: "ci/heard", description: null, url: null };
  expect((await heard).body.events).toMatchObject([{ type: "status", who: "operator", data }]);
});

test("a reader reads, without names, and sets nothing", async () => {
  const { body } = await list("main", reader);
  expect(body.statuses.length).toBeGreaterThan(0);
  expect(body.statuses.map(({ who }) => who)).toEqual(body.statuses.map(() => null));
  expect((await set({ state: "success" }, "main", reader)).status).toBe(403);
});

test("a commit's page shows its checks as they are now", async () => {
  await ask("PATCH", "/repos/statuses/repo", { visibility: "public" });
  const oid = await git(history, "rev-parse", "HEAD");
  const look = async (etag = '""') => {
    const response = await fetch(`${server.url}/statuses/repo/commit/${oid}`, { headers: { "If-None-Match": etag } });
    return { status: response.status, etag: response.headers.get("ETag")!, text: await response.text() };
  };
  await set({ state: "pending", context: "ci/shown", url: "https://ci.example.com/8" });
  const before = await look();
  expect(before.text).toMatch(
    /pending<\/span> <a href="https:\/\/ci.example.com\/8" rel="nofollow noreferrer"><bdi>ci\/shown/,
  );
  expect((await look(before.etag)).status).toBe(304);
  await set({ state: "failure", context: "ci/shown", description: "<b>7 failed</b>" });
  const after = await look(before.etag);
  expect(after.status).toBe(200);
  expect(after.text).toMatch(/failure<\/span> <bdi>ci\/shown<\/bdi><bdi>: &lt;b&gt;7 failed/);
});

test.each([
  [{ state: "good" }, "main", 422],
  [{ state: "success", url: "javascript:alert(1)" }, "main", 422],
  [{ state: "success", context: "" }, "main", 422],
  [{ state: "success" }, "nothing", 404],
  [{ state: "success" }, "0".repeat(40), 404],
])("%j of %s is refused", async (json, ref, status) => {
  expect((await set(json, ref)).status).toBe(status);
});

test("a commit has at most a hundred contexts", { tags: "sweep" }, async () => {
  for (let i = 0; i < 100; i++) expect((await set({ state: "success", context: `${i}` }, "main~2")).status).toBe(201);
  expect((await set({ state: "success", context: "more" }, "main~2")).status).toBe(409);
  expect((await set({ state: "failure", context: "7" }, "main~2")).body.state).toBe("failure");
});
