import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type Server, startServer } from "../harness/server.ts";

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

test("a server without a secret lets nobody in", async () => {
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
