/** The operator's log of requests. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";

const ADMIN = "correct-horse-battery";
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } });
});
afterAll(() => server.close());

test("a request is logged with its id, its phases and who made it, and so is what it did; no secret ever", async () => {
  const history = await makeHistory({ commits: 3, files: 2 });
  const headers = { Authorization: `Bearer ${ADMIN}` };
  const wanted = { owner: "me", name: "ci", right: "write" };
  const made = await askApi<{ id: string; token: string }>(server, "/tokens", {
    method: "POST",
    json: wanted,
    headers,
  });
  const { id, token } = made.body;
  const url = `${server.url.replace("://", `://me:${token}@`)}/me/logged`;
  await git(history, "push", url, "--all");
  await git(await makeRepository("clone"), "fetch", url);
  const answer = await askApi(server, `/repos/me/logged/log?text=${token}`, {
    headers: { Authorization: `Basic ${Buffer.from(`x:${token}`).toString("base64")}` },
  });
  await tryGit(history, ["ls-remote", `${server.url.replace("://", "://me:not-a-token@")}/me/logged`]);
  await askApi(server, "/repos/me/logged", { headers: { Authorization: "Bearer not-a-token" } });
  expect(answer.headers.get("Server-Timing")).toMatch(/^access;dur=\d+, repository;dur=\d+, total;dur=\d+$/);
  const requestId = answer.headers.get("X-Request-Id");
  const events: { event: string; name?: string; request?: string; repository?: string }[] = [];
  const isLogged = (): boolean => {
    events.push(...(server.takeEvents() as unknown as typeof events));
    return (
      server.requests.some(({ request }) => request === requestId) &&
      server.requests.filter(({ status }) => status === 401).length > 1 &&
      ["call", "push", "fetch"].every((kind) => events.some(({ event }) => event === kind))
    );
  };
  // The Worker may log a request after its client has the answer.
  await expect.poll(isLogged).toBe(true);
  expect(server.requests.find(({ request }) => request === requestId)).toMatchObject({
    method: "GET",
    path: "/api/repos/me/logged/log",
    who: `token ${id} (ci)`,
    status: 200,
    ms: expect.any(Number),
    phases: { access: expect.any(Number), repository: expect.any(Number) },
    repository: expect.any(String),
  });
  const called = events.find(({ name, request }) => name === "log" && request === requestId);
  expect(called).toMatchObject({
    event: "call",
    repository: expect.any(String),
    operations: { rowsRead: expect.any(Number) },
  });
  const pushed = server.requests.find(({ path }) => path.endsWith("/git-receive-pack"))!;
  for (const kind of ["push", "fetch"]) {
    expect(events.find(({ event }) => event === kind)).toMatchObject({ repository: pushed.repository });
  }
  expect(events.find(({ event }) => event === "push")!.request).toBe(pushed.request);
  const everything = JSON.stringify([server.requests, events]);
  for (const secret of [ADMIN, token, token.slice(3), "not-a-token", Buffer.from(`x:${token}`).toString("base64")]) {
    expect(everything).not.toContain(secret);
  }
});

test("the server says how it is, to everybody", async () => {
  const response = await fetch(`${server.url}/healthz`);
  expect([response.status, await response.json()]).toEqual([
    200,
    { status: "ok", registry: null, bucket: null, repositories: null },
  ]);
});
