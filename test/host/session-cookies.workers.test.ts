/** The cookie over https, which no server of the tests speaks, and what a new admin token ends. */
import { createExecutionContext, env } from "cloudflare:test";
import { expect, test } from "vitest";
import worker from "../../src/host/worker.ts";

const ORIGIN = "https://git.example";

function ask(path: string, adminToken: string, init: RequestInit = {}): Promise<Response> {
  const request = new Request(ORIGIN + path, { redirect: "manual", ...init });
  const asked = worker.fetch(request, { ...env, ACCESS: "token", ADMIN_TOKEN: adminToken }, createExecutionContext());
  return Promise.resolve(asked);
}

/** @returns what the server sets */
async function signIn(adminToken: string): Promise<string> {
  const headers = { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ token: adminToken }).toString();
  const response = await ask("/-/sign-in", adminToken, { method: "POST", headers, body });
  expect(response.status).toBe(303);
  return response.headers.get("Set-Cookie")!;
}

async function isSignedIn(cookie: string, adminToken: string): Promise<boolean> {
  const response = await ask("/", adminToken, { headers: { Accept: "text/html", Cookie: cookie } });
  return (await response.text()).includes("Sign out");
}

test("over https, browsers bind the cookie to this host, and send it over https alone", async () => {
  const set = await signIn("one");
  expect(set).toMatch(/^__Host-holdfast=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
  const [cookie = ""] = set.split(";");
  expect(await isSignedIn(cookie, "one")).toBe(true);
  // A cookie that something else on this host's domain has set, or that came over http.
  expect(await isSignedIn(cookie.replace("__Host-holdfast", "holdfast-session"), "one")).toBe(false);
});

test("another admin token ends the operator's sessions", async () => {
  const [cookie = ""] = (await signIn("one")).split(";");
  expect(await isSignedIn(cookie, "one")).toBe(true);
  expect(await isSignedIn(cookie, "two")).toBe(false);
  expect(await isSignedIn(cookie, "")).toBe(false);
});
