import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAX_FAILURES } from "../../../src/worker/host/identify.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { type Server, startServer } from "../../harness/server.ts";

const TOKEN = "correct-horse-battery";
let server: Server;

beforeAll(async () => {
  server = await startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: TOKEN } });
});
afterAll(() => server.close());

function withPassword(password: string): string {
  return server.url.replace("://", `://me:${password}@`);
}

const basic = (password: string): string => `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;

test.each([
  ["nothing", undefined, 401],
  ["a wrong password", basic("wrong"), 401],
  ["a password that begins right", basic(TOKEN.slice(0, -1)), 401],
  ["malformed base64", "Basic %%%", 401],
  ["an unknown scheme", `Digest ${TOKEN}`, 401],
  ["a token of 8 KB", `Bearer ${"x".repeat(8_192)}`, 401],
  ["no password", `Basic ${Buffer.from(TOKEN).toString("base64")}`, 401],
  ["nothing behind the scheme", "Bearer ", 401],
  ["two tokens, joined", `Bearer ${TOKEN}, Bearer ${TOKEN}`, 400],
  ["the token as password", basic(TOKEN), 404],
  ["the token as bearer", `Bearer ${TOKEN}`, 404],
])("a request with %s", async (_, authorization, status) => {
  const headers: Record<string, string> = authorization === undefined ? {} : { Authorization: authorization };
  const path = "/me/none/info/refs?service=git-upload-pack";
  const response = await fetch(server.url + path, { headers });
  expect(response.status).toBe(status);
  expect(response.headers.has("WWW-Authenticate")).toBe(status === 401);
});

test("git pushes and clones with the token, and with nothing else", async () => {
  const history = await makeHistory({ commits: 3, files: 2 });
  const refused = await tryGit(history, ["push", `${withPassword("wrong")}/me/history`, "--all"]);
  expect(refused.code).not.toBe(0);
  await git(history, "push", `${withPassword(TOKEN)}/me/history`, "--all");
  const clone = await makeRepository("clone");
  expect((await tryGit(clone, ["fetch", `${server.url}/me/history`])).code).not.toBe(0);
  await git(clone, "fetch", `${withPassword(TOKEN)}/me/history`);
});

test("a server without a secret lets nobody in", { tags: "sweep" }, async () => {
  const closed = await startServer({ vars: { ACCESS: "token" } });
  try {
    const response = await fetch(`${closed.url}/me/none/info/refs?service=git-upload-pack`, {
      headers: { Authorization: basic("") },
    });
    expect(response.status).toBe(401);
  } finally {
    await closed.close();
  }
});

/** Sends headers unchanged, also several of the same name. */
async function sendRaw(path: string, headers: readonly [string, string][]): Promise<number> {
  const outgoing = request(server.url + path, {
    headers: ["Host", "localhost", ...headers.flat()] as unknown as Record<string, string>,
  });
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

test("of two Authorization headers none counts, not even when they are the same", async () => {
  const header: [string, string] = ["Authorization", `Bearer ${TOKEN}`];
  expect(await sendRaw("/api/repos", [header])).toBe(200);
  expect(await sendRaw("/api/repos", [header, header])).toBe(400);
});

test("what looks like a token in a URL is none", async () => {
  for (const name of ["token", "access_token", "authorization", "private_token"]) {
    expect((await fetch(`${server.url}/api/repos/me/history?${name}=${TOKEN}`)).status).toBe(401);
  }
});

test("who shows wrong tokens again and again is told to wait, and comes in at once with the right one", async () => {
  const ask = (token: string, address: string) =>
    fetch(`${server.url}/api/repos/me/none`, {
      headers: { Authorization: `Bearer ${token}`, "CF-Connecting-IP": address },
    });
  const statuses: number[] = [];
  for (let i = 0; i <= MAX_FAILURES; i++) statuses.push((await ask(`wrong-${i}`, "192.0.2.1")).status);
  expect(statuses).toEqual([...Array.from({ length: MAX_FAILURES }, () => 401), 429]);
  const refused = await ask("wrong", "192.0.2.1");
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  expect((await ask(TOKEN, "192.0.2.1")).status).toBe(404);
  expect((await ask("wrong", "192.0.2.2")).status).toBe(401);
});
