/** Every route, requested by every kind of caller, with either scheme of authentication. The
 * expected answers follow from what each route declares; that it declares something is checked
 * too. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RIGHTS, type Right } from "../../../src/base/access/caller.ts";
import { GIT_ROUTES } from "../../../src/worker/host/git-routes.ts";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { LFS_TYPE, LfsClient } from "../../harness/lfs.ts";
import { type Server, startServer } from "../../harness/server.ts";
import { testSome } from "../../harness/sweep.ts";

const OPERATOR = "correct-horse-battery";

/** A route as requested here. */
interface Asked {
  readonly method: string;
  /** With `{owner}` and `{repo}`. */
  readonly path: string;
  readonly needed: Right | "token" | "nothing";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** A caller's right for `me/private`; null: it counts as anonymous; none: a known caller without
 * any right. */
const CALLERS = {
  nobody: null,
  wrong: null,
  "that a bit is wrong with": null,
  expired: null,
  revoked: null,
  "of another repository": "none",
  "of another owner": "none",
  read: "read",
  write: "write",
  admin: "admin",
  "of the repository": "admin",
  operator: "operate",
} as const satisfies Record<string, Right | "none" | null>;

type CallerName = keyof typeof CALLERS;

const SCHEMES = {
  Basic: (token: string) => `Basic ${Buffer.from(`git:${token}`).toString("base64")}`,
  Bearer: (token: string) => `Bearer ${token}`,
};

let server: Server;
let routes: Asked[];
const tokens: Partial<Record<CallerName, string>> = {};
let asked = 0;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: OPERATOR } });
  const history = await makeHistory({ commits: 2, files: 2 });
  for (const name of ["me/private", "me/public", "me/other", "you/one"]) {
    await git(history, "push", `${server.url.replace("://", `://git:${OPERATOR}@`)}/${name}`, "--all");
  }
  await askAs(OPERATOR, "PATCH", "/repos/me/public", { visibility: "public" });
  await makeTokens();
  routes = [...(await documentedRoutes()), ...gitRoutes()];
});
afterAll(() => server.close());

async function askAs(token: string, method: string, path: string, json: unknown): Promise<Record<string, string>> {
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await askApi<Record<string, string>>(server, path, { method, json, headers });
  expect(status, `${method} ${path}`).toBeLessThan(300);
  return body;
}

async function makeTokens(): Promise<void> {
  const make = async (wanted: Record<string, unknown>): Promise<Record<string, string>> =>
    askAs(OPERATOR, "POST", "/tokens", { owner: "me", name: "matrix", right: "admin", ...wanted });
  for (const right of ["read", "write", "admin"] as const) tokens[right] = (await make({ right }))["token"]!;
  tokens["of the repository"] = (await make({ repository: "private" }))["token"]!;
  tokens["of another repository"] = (await make({ repository: "other" }))["token"]!;
  tokens["of another owner"] = (await make({ owner: "you" }))["token"]!;
  const revoked = await make({});
  await askApi(server, `/tokens/${revoked["id"]}`, {
    method: "DELETE",
    headers: { Authorization: `Bearer ${OPERATOR}` },
  });
  tokens.revoked = revoked["token"]!;
  tokens.expired = (await make({ expiresAt: new Date(Date.now() + 500).toISOString() }))["token"]!;
  tokens.operator = OPERATOR;
  tokens.wrong = "wrong";
  // A valid token, including its checksum, with one character changed.
  tokens["that a bit is wrong with"] = tokens.admin!.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  await sleep(600);
}

async function documentedRoutes(): Promise<Asked[]> {
  const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { "x-needs"?: Asked["needed"]; requestBody?: unknown }>>;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Asked => {
      const hasBody = operation.requestBody !== undefined;
      return {
        method: method.toUpperCase(),
        path: `/api${path}`,
        needed: operation["x-needs"]!,
        headers: hasBody ? { "Content-Type": "application/json" } : {},
        body: hasBody ? "{}" : null,
      };
    }),
  );
}

function gitRoutes(): Asked[] {
  return GIT_ROUTES.map(({ method, path, service, needed }) => ({
    method,
    path: `/{owner}/{repo}${path}${service === undefined ? "" : `?service=${service}`}`,
    needed,
    headers: method === "POST" ? { "Content-Type": `application/x-${path.slice(1)}-request` } : {},
    body: method === "POST" ? "0000" : null,
  }));
}

async function ask(route: Asked, repository: string, authorization: string | null): Promise<Response> {
  const path = route.path
    .replace("{owner}", "me")
    .replace("{repo}", repository)
    .replace(/\{\w+\}|:\w+/g, "0123456789abcdef0123456789abcdef01234567");
  asked += 1;
  return fetch(server.url + path, {
    method: route.method,
    body: route.body,
    headers: {
      ...route.headers,
      // Each request from its own address: failed authentications are counted by address.
      "CF-Connecting-IP": `10.0.${asked >> 8}.${asked & 255}`,
      ...(authorization !== null && { Authorization: authorization }),
    },
  });
}

/** Whether, and how, the answer refuses access. */
async function refusalOf(response: Response): Promise<401 | 403 | 404 | null> {
  const text = await response.text();
  if (response.status === 401 || response.status === 403) return response.status;
  return response.status === 404 && text.includes("the repository was not found") ? 404 : null;
}

function expectedRefusal({ needed, path }: Asked, caller: CallerName): 401 | 403 | 404 | null {
  const has = CALLERS[caller];
  if (caller === "nobody" && needed === "nothing") return null;
  if (has === null) return 401;
  if (needed === "nothing") return null;
  // What these allow depends on what the request names.
  if (needed === "token") return null;
  if (!path.includes("{repo}")) throw new Error(`${path} needs '${needed}', of nothing that it names`);
  if (has === "none") return 404;
  return RIGHTS.indexOf(has) >= RIGHTS.indexOf(needed) ? null : 403;
}

const nameOf = ({ method, path }: Asked): string => `${method} ${path}`;
const deletesRepository = (route: Asked): boolean => nameOf(route) === "DELETE /api/repos/{owner}/{repo}";

test("every route declares what it needs, and what changes something is not for readers", () => {
  expect(routes.length).toBeGreaterThan(50);
  for (const route of routes) {
    expect([...RIGHTS, "token", "nothing"], nameOf(route)).toContain(route.needed);
    // A fork changes nothing of what it is made of; its owner's right is asked for by the route.
    const isFork = route.method === "POST" && route.path.endsWith("/forks");
    if (route.method !== "GET" && !route.path.endsWith("/git-upload-pack") && !isFork) {
      expect(["write", "admin", "operate", "token"], nameOf(route)).toContain(route.needed);
    }
  }
});

/** Whose requests `npm test` makes. */
const FEW: readonly CallerName[] = ["nobody", "of another owner", "read", "write"];

describe.each(Object.keys(CALLERS) as CallerName[])("token: %s", (caller) => {
  testSome(FEW.includes(caller) ? 1 : 0, Object.keys(SCHEMES) as (keyof typeof SCHEMES)[], "by %s", async (scheme) => {
    const authorization = caller === "nobody" ? null : SCHEMES[scheme](tokens[caller]!);
    const wrong: string[] = [];
    for (const route of routes) {
      const expected = expectedRefusal(route, caller);
      let repository = "private";
      if (deletesRepository(route) && expected === null) {
        // The repository's token is deleted with it.
        if (caller === "of the repository") continue;
        await askAs(OPERATOR, "POST", "/repos", { owner: "me", name: (repository = "doomed") });
      }
      const response = await ask(route, repository, authorization);
      const { status } = response;
      const refusal = await refusalOf(response);
      // These are decided by the body: one that names nothing is not valid.
      const isDecidedLater = route.needed === "token" && (refusal === 403 || status === 404);
      if (refusal !== expected && !isDecidedLater) wrong.push(`${nameOf(route)}: ${status}, expected ${expected}`);
      if (status >= 500) wrong.push(`${nameOf(route)}: ${status}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** What routes of an owner need for all that the owner has, if it is not the right to administer
 * it. */
const NEEDED_OF_OWNER: Readonly<Record<string, Right>> = {
  "GET /api/owners/{owner}/events": "read",
  "PUT /api/owners/{owner}/quota": "operate",
};

test("a route of an owner takes the right to all that the owner has, whatever is public", async () => {
  const ofOwner = routes.filter(({ path }) => path.startsWith("/api/owners/{owner}/"));
  expect(ofOwner.length).toBeGreaterThan(10);
  for (const route of ofOwner) {
    const needed = NEEDED_OF_OWNER[nameOf(route)] ?? "admin";
    for (const caller of Object.keys(CALLERS) as CallerName[]) {
      const has = caller === "of the repository" ? "none" : CALLERS[caller];
      const isRefused = has === "none" || (has !== null && RIGHTS.indexOf(has) < RIGHTS.indexOf(needed));
      const authorization = caller === "nobody" ? null : SCHEMES.Bearer(tokens[caller]!);
      const response = await ask(route, "", authorization);
      const expected = has === null ? 401 : isRefused ? 403 : null;
      // A body that says nothing is not valid, which is found out before the owner is looked at.
      if (response.status === 422 && expected === 403) continue;
      expect(await refusalOf(response), `${nameOf(route)} by ${caller}`).toBe(expected);
    }
  }
});

testSome(
  1,
  ["nobody", "of another repository", "of another owner"] as const,
  "to %s, what is private and what is missing look the same",
  async (caller) => {
    const authorization = caller === "nobody" ? null : SCHEMES.Bearer(tokens[caller]!);
    const look = async (route: Asked, repository: string) => {
      const response = await ask(route, repository, authorization);
      const headers = [...response.headers].filter(
        ([name]) => !["x-request-id", "server-timing", "date"].includes(name),
      );
      return [response.status, headers, await response.text()];
    };
    for (const route of routes.filter(({ path }) => path.includes("{repo}"))) {
      expect(await look(route, "private"), nameOf(route)).toEqual(await look(route, "missing"));
    }
  },
);

test("everybody reads what is public, and changes nothing", async () => {
  for (const route of routes.filter(({ path }) => path.includes("{repo}"))) {
    for (const caller of ["nobody", "of another owner"] as const) {
      const authorization = caller === "nobody" ? null : SCHEMES.Basic(tokens[caller]!);
      const refusal = await refusalOf(await ask(route, "public", authorization));
      const expected = route.needed === "read" ? null : caller === "nobody" ? 401 : 403;
      expect(refusal, `${nameOf(route)} by ${caller}`).toBe(expected);
    }
  }
});

test("a new name takes the right to write whatever its owner has, and no answer tells which names there are", async () => {
  const rename = async (token: string, json: Record<string, string>) => {
    const headers = { Authorization: `Bearer ${token}` };
    const { status, body } = await askApi(server, "/repos/me/private", { method: "PATCH", json, headers });
    return { status, body };
  };
  const own = tokens["of the repository"]!;
  const free = await rename(own, { name: "free" });
  expect(free).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });
  // Hidden from this token, public, and the former name of a repository.
  for (const name of ["other", "public", "Other"]) expect(await rename(own, { name })).toEqual(free);
  await askAs(OPERATOR, "PATCH", "/repos/me/other", { name: "left" });
  expect(await rename(own, { name: "other" })).toEqual(free);
  await askAs(OPERATOR, "PATCH", "/repos/me/left", { name: "other" });
  expect((await rename(own, { owner: "you" })).status).toBe(403);
  expect((await rename(tokens.admin!, { owner: "you" })).status).toBe(403);
  // An admin of the repository may change the spelling of its name, and its description.
  expect((await rename(own, { name: "Private", description: "d" })).status).toBe(200);
  expect((await rename(own, { name: "private" })).status).toBe(200);
  expect((await rename(tokens.admin!, { name: "free" })).status).toBe(200);
  await askAs(OPERATOR, "PATCH", "/repos/me/free", { name: "private" });
});

test("HEAD moves for nobody who may only write", async () => {
  const headers = { Authorization: `Bearer ${tokens.write}` };
  const call = async (method: string, path: string, json?: object) =>
    (await askApi(server, `/repos/me/moved${path}`, { method, headers, json })).status;
  const head = async () =>
    (await askApi<{ defaultBranch: string }>(server, "/repos/me/moved", { headers })).body.defaultBranch;
  const history = await makeHistory({ commits: 2, files: 2 });
  const url = `${server.url.replace("://", `://git:${tokens.write}@`)}/me/moved`;
  await git(history, "push", url, "HEAD:refs/heads/main", "HEAD:refs/heads/evil");
  expect(await call("PATCH", "/branches/main", { newName: "aside" })).toBe(403);
  expect(await call("PATCH", "", { defaultBranch: "evil" })).toBe(403);
  expect(await call("DELETE", "/branches/main")).toBe(409);
  for (const refspecs of [
    [":refs/heads/main"],
    [":refs/heads/main", "HEAD:refs/heads/third"],
    ["HEAD:HEAD", "HEAD:refs/heads/main"],
  ])
    await git(history, "push", url, ...refspecs).catch(() => undefined);
  expect(await head()).toBe("main");
  expect(await git(history, "ls-remote", "--symref", url, "HEAD")).toContain("ref: refs/heads/main");
  // A writer may rename any branch but the default branch, which needs an admin.
  expect(await call("PATCH", "/branches/evil", { newName: "good" })).toBe(200);
  const admin = { Authorization: `Bearer ${tokens.admin}` };
  const renamed = await askApi(server, "/repos/me/moved/branches/main", {
    method: "PATCH",
    headers: admin,
    json: { newName: "trunk" },
  });
  expect(renamed.status).toBe(200);
  await git(history, "push", url, "HEAD:refs/heads/main");
  expect(await git(history, "ls-remote", "--symref", url, "HEAD")).toContain("ref: refs/heads/trunk");
});

test("who may not write is told nobody's token, by no route", async () => {
  const name = "ada-of-the-team";
  const made = await askAs(OPERATOR, "POST", "/tokens", { owner: "me", name, right: "write" });
  const { token, id } = made as { token: string; id: string };
  const history = await makeHistory({ commits: 2, files: 2 });
  const commit = await git(history, "rev-parse", "HEAD");
  const url = `${server.url.replace("://", `://git:${token}@`)}/me/known`;
  await git(history, "push", url, "HEAD:refs/heads/main", "HEAD:refs/tags/v1");
  await askAs(OPERATOR, "PATCH", "/repos/me/known", { visibility: "public" });
  await askAs(token, "POST", `/repos/me/known/commits/${commit}/statuses`, { context: "ci", state: "success" });
  const locked = await new LfsClient(`${server.url}/me/known.git`, token).ask("POST", "locks", "lock", { path: "a" });
  expect(locked.status).toBe(201);
  const asks: Asked[] = [
    ...routes.filter(({ method, needed, path }) => method === "GET" && needed === "read" && path.includes("{repo}")),
    ...["", "?path=a", `?id=${locked.body.lock.id}`].map((query): Asked => ({
      method: "GET",
      path: `/{owner}/{repo}.git/info/lfs/locks${query}`,
      needed: "read",
      headers: { Accept: LFS_TYPE },
      body: null,
    })),
    ...["", "/commits/main", "/branches", "/tags", `/commit/${commit}`].map((path): Asked => ({
      method: "GET",
      path: `/{owner}/{repo}${path}`,
      needed: "read",
      headers: {},
      body: null,
    })),
  ];
  const tellers = async (authorization: string | null): Promise<string[]> => {
    const found: string[] = [];
    for (const route of asks) {
      const path = route.path.replace(/\{(?!owner|repo)\w+\}/g, commit);
      const response = await ask({ ...route, path }, "known", authorization);
      const text = await response.text();
      if (text.includes(name) || text.includes(id)) found.push(path);
    }
    return found;
  };
  expect(await tellers(null)).toEqual([]);
  expect(await tellers(SCHEMES.Bearer(tokens.read!))).toEqual([]);
  expect((await tellers(SCHEMES.Basic(token))).length).toBeGreaterThan(3);
});
