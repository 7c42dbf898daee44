/** Signing in, in a browser: what a session may see, what ends it, and who else cannot use it. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MAX_FAILURES } from "../../../src/worker/host/identify.ts";
import { MAX_SESSIONS } from "../../../src/base/format/table-limits.ts";
import { askApi } from "../../harness/api.ts";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { type Server, startServer } from "../../harness/server.ts";

const ADMIN = "correct-horse-battery";
/** How long an isolate relies on what it knows of a session here; the default is ten seconds. */
const ANSWER_LIFE_MS = 500;
let browser: SharedBrowser;
let server: Server;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  [browser, server] = await Promise.all([
    shareBrowser(),
    startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN }, constants: { ANSWER_LIFE_MS } }),
  ]);
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url.replace("://", `://me:${ADMIN}@`)}/me/private`, "main");
});
afterAll(async () => {
  await browser.close();
  await server.close();
});
beforeEach(async () => {
  await context?.close();
  context = await browser.newContext();
  page = await context.newPage();
});

/** Makes a token. */
async function makeToken(wanted: Record<string, unknown> = {}): Promise<{ id: string; token: string }> {
  const headers = { Authorization: `Bearer ${ADMIN}` };
  const json = { owner: "me", name: "a browser's", right: "read", ...wanted };
  const { body } = await askApi<{ id: string; token: string }>(server, "/tokens", { method: "POST", json, headers });
  return body;
}

async function signIn(token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Signs in without a browser. */
async function sessionOf(token: string): Promise<string> {
  const response = await fetch(`${server.url}/-/sign-in`, {
    method: "POST",
    redirect: "manual",
    headers: { "Sec-Fetch-Site": "same-origin" },
    body: new URLSearchParams({ token }),
  });
  expect(response.status).toBe(303);
  return response.headers.get("Set-Cookie")!.split(";")[0]!;
}

const statusOf = async (path: string): Promise<number> => (await page.goto(server.url + path))!.status();

test("who signs in sees what the token may, where they wanted to; who signs out no longer", async () => {
  const { token } = await makeToken();
  expect(await statusOf("/me/private/tree/main")).toBe(404);
  await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
  await signIn(token);
  await page.waitForURL(`${server.url}/me/private/tree/main`);
  expect(await page.getByRole("banner").innerText()).toContain("a browser's");
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/", name: "holdfast-session" });
  expect(cookie!.value).not.toContain(token.slice(3));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL(`${server.url}/`);
  expect(await context.cookies()).toEqual([]);
  expect(await statusOf("/me/private")).toBe(404);
  // The session is over, not only forgotten by the browser.
  await context.addCookies([cookie!]);
  expect(await statusOf("/me/private")).toBe(404);
});

test("a wrong token signs nobody in, and many wrong ones must wait", { tags: "sweep" }, async () => {
  await page.goto(`${server.url}/-/sign-in`);
  await signIn("wrong");
  expect(await page.getByRole("alert").innerText()).toContain("unknown, revoked or expired");
  expect(await context.cookies()).toEqual([]);
  const address = { "CF-Connecting-IP": "192.0.2.7", "Sec-Fetch-Site": "same-origin" };
  const tries = Array.from({ length: MAX_FAILURES + 1 }, () => ({
    method: "POST",
    headers: address,
    body: new URLSearchParams({ token: "wrong" }),
  }));
  const statuses: number[] = [];
  for (const one of tries) statuses.push((await fetch(`${server.url}/-/sign-in`, one)).status);
  expect(statuses.slice(0, -1)).toEqual(Array(MAX_FAILURES).fill(403));
  expect(statuses.at(-1)).toBe(429);
});

test("a session ends when its token is revoked, and when it expires", { tags: "sweep" }, async () => {
  const headers = { Authorization: `Bearer ${ADMIN}` };
  const read = async (cookie: string) =>
    (await fetch(`${server.url}/me/private/tree/main`, { headers: { Cookie: cookie } })).status;
  const revoked = await makeToken();
  const cookie = await sessionOf(revoked.token);
  expect(await read(cookie)).toBe(200);
  await askApi(server, `/tokens/${revoked.id}`, { method: "DELETE", headers });
  expect(await read(cookie)).toBe(404);
  const short = await makeToken({ expiresAt: new Date(Date.now() + 5_000).toISOString() });
  const passing = await sessionOf(short.token);
  expect(await read(passing)).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 5_100));
  expect(await read(passing)).toBe(404);
});

test("the operator's session is the operator's; the oldest of many sessions ends", async () => {
  const read = async (cookie: string) =>
    (await fetch(`${server.url}/me/private/tree/main`, { headers: { Cookie: cookie } })).status;
  const first = await sessionOf(ADMIN);
  expect(await read(first)).toBe(200);
  for (let i = 0; i < MAX_SESSIONS; i++) await sessionOf(ADMIN);
  // Until the isolate has forgotten it.
  await expect.poll(() => read(first), { interval: 100 }).toBe(404);
});

test("neither git nor the API takes a session", async () => {
  const headers = { Cookie: await sessionOf(ADMIN) };
  for (const path of ["/api/repos/me/private", "/me/private/info/refs?service=git-upload-pack", "/me/private"])
    expect((await fetch(server.url + path, { headers: { ...headers, Accept: "*/*" } })).status, path).toBe(401);
});

test("a form leads to no other site", async () => {
  const { token } = await makeToken();
  for (const to of ["https://evil.example/", "//evil.example", "/\\evil.example", "/.//evil.example", "javascript:1"]) {
    const response = await fetch(`${server.url}/-/sign-in`, {
      method: "POST",
      redirect: "manual",
      headers: { "Sec-Fetch-Site": "same-origin" },
      body: new URLSearchParams({ token, to }),
    });
    expect([to, response.headers.get("Location")]).toEqual([to, "/"]);
  }
});

test.each<[string, Record<string, string>]>([
  ["another site", { "Sec-Fetch-Site": "cross-site" }],
  ["another port", { "Sec-Fetch-Site": "same-site" }],
  ["no page, as browsers say", { "Sec-Fetch-Site": "none" }],
  ["another origin", { Origin: "https://evil.example" }],
  ["no origin", { Origin: "null" }],
  ["nowhere", {}],
])("a form from %s is refused", async (_, headers) => {
  for (const path of ["/-/sign-in", "/-/sign-out"]) {
    const body = new URLSearchParams({ token: ADMIN });
    const response = await fetch(server.url + path, { method: "POST", headers, body });
    expect([response.status, response.headers.get("Set-Cookie")]).toEqual([403, null]);
  }
});

test("a page of another site signs nobody in or out", { tags: "sweep" }, async () => {
  const foreign = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end(
      `<form method="post" action="${server.url}/-/sign-out"><button>Out</button></form>
       <form method="post" action="${server.url}/-/sign-in"><input name="token" value="${ADMIN}"><button>In</button></form>`,
    );
  }).listen(0, "127.0.0.1");
  await once(foreign, "listening");
  try {
    await page.goto(`${server.url}/-/sign-in`);
    await signIn(ADMIN);
    await page.waitForURL(`${server.url}/`);
    const [before] = await context.cookies();
    for (const name of ["Out", "In"]) {
      await page.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
      await page.getByRole("button", { name }).click();
      await page.waitForURL(`${server.url}/**`);
      expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Not allowed");
      expect(await context.cookies()).toEqual([before]);
    }
    expect(await statusOf("/me/private")).toBe(200);
  } finally {
    foreign.close();
  }
});

test("a form that is too large is not read", async () => {
  const body = new URLSearchParams({ token: "x".repeat(20_000) });
  const headers = { "Sec-Fetch-Site": "same-origin" };
  expect((await fetch(`${server.url}/-/sign-in`, { method: "POST", headers, body })).status).toBe(413);
});

test("a session hears of pushes on the page's own stream, until its token is revoked, and not through the API", async () => {
  const { id, token } = await makeToken({ right: "write" });
  const cookie = await sessionOf(token);
  const ask = (path: string, headers: Record<string, string>) =>
    fetch(server.url + path, { headers: { Accept: "text/event-stream", ...headers } });
  expect((await ask("/me/private/live", {})).status).toBe(404);
  expect((await ask("/api/repos/me/private/events", { Cookie: cookie })).status).toBe(401);
  expect((await ask("/me/private/live?after=x", { Cookie: cookie })).status).toBe(422);
  const stream = await ask("/me/private/live", { Cookie: cookie });
  expect([stream.status, stream.headers.get("Content-Type")]).toEqual([200, "text/event-stream"]);
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe("retry: 2000\n\n");
  const dir = await makeRepository("heard");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "heard");
  const push = (ref: string) =>
    git(dir, "push", "-q", `${server.url.replace("://", `://me:${ADMIN}@`)}/me/private`, `HEAD:refs/heads/${ref}`);
  await push("heard");
  expect((await reader.read()).value).toMatch(/^id: \d+\ndata: pushed\n\n$/);
  await askApi(server, `/tokens/${id}`, { method: "DELETE", headers: { Authorization: `Bearer ${ADMIN}` } });
  await push("unheard");
  expect((await reader.read()).done).toBe(true);
});
