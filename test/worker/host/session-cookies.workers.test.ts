/** The cookie over https, which no server of the tests speaks, what a new admin token ends, and how
 * soon a session ends whose token was revoked elsewhere. */
import { createExecutionContext, env } from "cloudflare:test";
import { afterEach, expect, test, vi } from "vitest";
import { registryOf } from "../../../src/worker/host/directory.ts";
import worker from "../../../src/main.ts";
import { ANSWER_LIFE_MS } from "../../../src/contract/registry.ts";

const ORIGIN = "https://git.example";

afterEach(() => vi.useRealTimers());

function ask(path: string, adminToken: string, init: RequestInit = {}): Promise<Response> {
  const request = new Request(ORIGIN + path, { redirect: "manual", ...init });
  const asked = worker.fetch(request, { ...env, ACCESS: "token", ADMIN_TOKEN: adminToken }, createExecutionContext());
  return Promise.resolve(asked);
}

/** @returns what the server sets */
async function signIn(adminToken: string, token = adminToken): Promise<string> {
  const headers = { "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ token }).toString();
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
  const [cookie = "", ...attributes] = set.split("; ");
  expect(cookie).toMatch(/^__Host-holdfast=[\w-]{43}$/);
  // Their order means nothing.
  expect(attributes.toSorted().join("; ")).toMatch(/^HttpOnly; Max-Age=\d+; Path=\/; SameSite=Lax; Secure$/);
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

test("a session is over ten seconds after its token was revoked in another isolate", async () => {
  const registry = registryOf(env as unknown as Parameters<typeof registryOf>[0]);
  const wanted = { name: "a browser's", scope: { owner: "me" }, right: "read", refs: null, expiresMs: null } as const;
  const made = (await registry.createToken(wanted))!;
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  const [cookie = ""] = (await signIn("one", made.text)).split(";");
  expect(await isSignedIn(cookie, "one")).toBe(true);
  // The registry tells nobody: this isolate must ask again.
  expect(await registry.revokeToken(made.token.id)).toBe(true);
  vi.setSystemTime(Date.now() + ANSWER_LIFE_MS - 1);
  expect(await isSignedIn(cookie, "one")).toBe(true);
  vi.setSystemTime(Date.now() + 1);
  expect(await isSignedIn(cookie, "one")).toBe(false);
  expect(ANSWER_LIFE_MS).toBe(10_000);
});
