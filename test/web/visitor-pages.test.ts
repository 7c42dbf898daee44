import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askApi } from "../harness/api.ts";
import { noteProblems, startBrowser } from "../harness/browser.ts";
import { git, makeRepository } from "../harness/git.ts";
import { type Server, startServer } from "../harness/server.ts";

const ADMIN = "correct-horse-battery";
let browser: Browser;
let server: Server;

beforeAll(async () => {
  [browser, server] = await Promise.all([
    startBrowser(),
    startServer({ vars: { ACCESS: "token", ADMIN_TOKEN: ADMIN } }),
  ]);
  const dir = await makeRepository("source");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  for (const name of ["public", "private"]) {
    await git(dir, "push", "-q", `${server.url.replace("://", `://me:${ADMIN}@`)}/me/${name}.git`, "main");
  }
  const headers = { Authorization: `Bearer ${ADMIN}` };
  await askApi(server, "/repos/me/public", { method: "PATCH", json: { visibility: "public" }, headers });
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Opens a path as a browser on a phone does. */
async function open(path: string): Promise<{ status: number; text: string }> {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const problems = noteProblems(page);
  const response = (await page.goto(server.url + path))!;
  const text = await page.locator("body").innerText();
  const status = response.status();
  // A browser's console reports the status itself.
  expect(problems.filter((problem) => !problem.includes("status of 404"))).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  expect(response.headers()["content-security-policy"]).toMatch(/^default-src 'none'/);
  expect(await page.getByRole("link", { name: "The API" }).getAttribute("href")).toBe("/api/docs");
  await page.close();
  return { status, text };
}

test("a browser finds at / how to push, and the way to the API", async () => {
  const { status, text } = await open("/");
  expect(status).toBe(200);
  expect(text).toContain(`git push ${server.url}/me/my-repo.git main`);
});

test.each(["/me/public", "/me/public.git", "/me/public/"])("a browser finds at %s how to clone", async (path) => {
  const { status, text } = await open(path);
  expect(status).toBe(200);
  const command = text.split("\n").find((line) => line.startsWith("git "))!;
  expect(command).toBe(`git clone ${server.url}/me/public.git`);
  expect(await git(".", "ls-remote", command.split(" ").at(-1)!)).toContain("refs/heads/main");
});

test("a private repository looks to a browser as one that is not there", async () => {
  const hidden = await open("/me/private");
  expect(hidden.status).toBe(404);
  expect(hidden).toEqual(await open("/me/missing"));
  expect(hidden).toEqual(await open("/me/bad%20name"));
  const asBrowser = { headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };
  const [one, other] = await Promise.all(
    ["/me/private", "/me/missing"].map((path) => fetch(server.url + path, asBrowser)),
  );
  expect(await one!.text()).toBe(await other!.text());
  // The browser does not ask for a password.
  expect(one!.headers.get("WWW-Authenticate")).toBeNull();
});

test("what asks for no page gets a line of text", async () => {
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, { headers });
    expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    return [response.status, await response.text()];
  };
  expect(await read("/")).toEqual([200, expect.stringMatching(/^Holdfast: a Git host\..*main\n$/)]);
  expect(await read("/me/public")).toEqual([200, `git clone ${server.url}/me/public.git\n`]);
  expect((await read("/me/private"))[0]).toBe(401);
  expect(await read("/me/private")).toEqual(await read("/me/missing"));
  const headers = { Authorization: `Bearer ${ADMIN}` };
  expect(await read("/me/private", headers)).toEqual([200, `git clone ${server.url}/me/private.git\n`]);
  expect((await read("/me/missing", headers))[0]).toBe(404);
});
