import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, askApi } from "../../harness/api.ts";
import { git, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";

const ADMIN = "correct-horse-battery";
let server: Server;
let history: string;

interface Made {
  readonly id: string;
  readonly token: string;
}

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } });
  history = await makeHistory({ commits: 3, files: 2 });
  for (const name of ["me/one", "me/two", "you/one"]) await git(history, "push", urlOf(name, ADMIN), "--all");
});
afterAll(() => server.close());

const urlOf = (name: string, token: string): string => `${server.url.replace("://", `://git:${token}@`)}/${name}`;

function ask<Body = Record<string, unknown>>(
  path: string,
  token: string | null,
  init: { method?: string; json?: unknown } = {},
): Promise<Answer<Body>> {
  return askApi<Body>(server, path, { ...init, headers: token === null ? {} : { Authorization: `Bearer ${token}` } });
}

async function make(wanted: Record<string, unknown>, by = ADMIN): Promise<Made> {
  const { status, body } = await ask<Made>("/tokens", by, {
    method: "POST",
    json: { owner: "me", name: "a test", right: "read", ...wanted },
  });
  expect(status).toBe(201);
  return body;
}

const canRead = async (name: string, token: string): Promise<number> => (await ask(`/repos/${name}/log`, token)).status;

test("a token is good for its owner's repositories, also those to come, or for one repository, whatever its name", async () => {
  const owners = await make({ right: "write" });
  const one = await make({ repository: "one" });
  expect([await canRead("me/one", owners.token), await canRead("ME/two", owners.token)]).toEqual([200, 200]);
  expect([await canRead("me/one", one.token), await canRead("me/two", one.token)]).toEqual([200, 404]);
  expect(await canRead("you/one", owners.token)).toBe(404);
  await git(history, "push", urlOf("me/new", owners.token), "--all");
  expect((await tryGit(history, ["push", urlOf("you/new", owners.token), "--all"])).code).not.toBe(0);
  await ask("/repos/me/one", ADMIN, { method: "PATCH", json: { name: "uno" } });
  expect(await canRead("me/uno", one.token)).toBe(200);
  await ask("/repos/me/uno", ADMIN, { method: "PATCH", json: { name: "one" } });
});

test("lists show what a token may read", async () => {
  await ask("/repos/you/one", ADMIN, { method: "PATCH", json: { visibility: "public" } });
  const listed = async (token: string | null): Promise<string[]> => {
    const { body } = await ask<{ repositories: { owner: string; name: string }[] }>("/repos?limit=100", token);
    return body.repositories.map(({ owner, name }) => `${owner}/${name}`);
  };
  const one = await make({ repository: "one" });
  expect(await listed(null)).toEqual(["you/one"]);
  expect(await listed(one.token)).toEqual(["me/one", "you/one"]);
  expect(await listed((await make({ owner: "YOU" })).token)).toEqual(["you/one"]);
  expect(await listed(ADMIN)).toEqual(expect.arrayContaining(["me/one", "me/two", "you/one"]));
  await ask("/repos/you/one", ADMIN, { method: "PATCH", json: { visibility: "private" } });
});

test("what is public is read by everybody, and written by nobody without a token", async () => {
  await ask("/repos/you/one", ADMIN, { method: "PATCH", json: { visibility: "public" } });
  expect((await ask("/repos/you/one/log", null)).status).toBe(200);
  expect((await tryGit(history, ["ls-remote", `${server.url}/you/one`])).code).toBe(0);
  expect((await ask("/repos/you/one", null, { method: "DELETE" })).status).toBe(401);
  expect((await ask("/repos/you/one", (await make({})).token, { method: "DELETE" })).status).toBe(403);
  await ask("/repos/you/one", ADMIN, { method: "PATCH", json: { visibility: "private" } });
  expect((await ask("/repos/you/one/log", null)).status).toBe(401);
});

test("a token that is revoked or has expired is worth nothing", async () => {
  const { id, token } = await make({});
  expect(await canRead("me/one", token)).toBe(200);
  expect((await ask(`/tokens/${id}`, ADMIN)).body).toMatchObject({ id, owner: "me", lastUsedAt: expect.any(String) });
  expect((await ask(`/tokens/${id}`, ADMIN, { method: "DELETE" })).status).toBe(204);
  expect(await canRead("me/one", token)).toBe(401);
  const expiresMs = Date.now() + 1_500;
  const short = await make({ expiresAt: new Date(expiresMs).toISOString() });
  const status = await canRead("me/one", short.token);
  // A busy machine may take longer.
  if (Date.now() < expiresMs) expect(status).toBe(200);
  await sleep(expiresMs + 100 - Date.now());
  expect(await canRead("me/one", short.token)).toBe(401);
  expect(
    (
      await ask("/tokens", ADMIN, {
        method: "POST",
        json: { owner: "me", name: "x", right: "read", expiresAt: "2020-01-01T00:00:00Z" },
      })
    ).status,
  ).toBe(422);
});

test("who may not have the right gives out no token, sees none and revokes none but its own", async () => {
  const writer = await make({ right: "write" });
  const other = await make({ owner: "you", right: "admin" });
  const admin = await make({ right: "admin", expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
  const wanted = { owner: "me", name: "x", right: "read" };
  const create = async (token: string | null, json: unknown) =>
    (await ask("/tokens", token, { method: "POST", json })).status;
  expect(await create(null, wanted)).toBe(401);
  expect(await create(writer.token, wanted)).toBe(403);
  expect(await create(other.token, wanted)).toBe(403);
  expect(await create(other.token, { ...wanted, repository: "one" })).toBe(404);
  // It would outlive the token that made it.
  expect(await create(admin.token, wanted)).toBe(403);
  expect(await create(admin.token, { ...wanted, expiresAt: new Date(Date.now() + 60_000).toISOString() })).toBe(201);
  for (const [token, status] of [
    [writer.token, 404],
    [other.token, 404],
    [admin.token, 200],
  ] as const) {
    expect((await ask(`/tokens/${admin.id}`, token)).status).toBe(status);
  }
  expect((await ask(`/tokens?owner=me`, writer.token)).status).toBe(403);
  expect((await ask(`/tokens?owner=me`, admin.token)).status).toBe(200);
  expect((await ask("/tokens/current", writer.token)).body).toMatchObject({ id: writer.id });
  expect((await ask("/tokens/current", writer.token, { method: "DELETE" })).status).toBe(204);
  expect(await canRead("me/one", writer.token)).toBe(401);
});

test("nothing that proves a token is kept or shown", async () => {
  const { token, id } = await make({});
  const shown =
    JSON.stringify((await ask(`/tokens/${id}`, ADMIN)).body) +
    JSON.stringify((await ask("/tokens?owner=me", ADMIN)).body);
  expect(shown).not.toContain(token.slice(3));
});
