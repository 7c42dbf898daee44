import { afterAll, beforeAll, expect, test } from "vitest";
import { noteProblems, shareBrowser, type SharedBrowser } from "./browser.ts";
import type { Server } from "./server.ts";
import { shareServer } from "./shared-server.ts";

let browser: SharedBrowser;
let server: Pick<Server, "url">;

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("browser")]);
});

afterAll(async () => {
  await browser.close();
});

test("a page that the Worker serves renders, and nothing goes wrong in it", async () => {
  const page = await browser.newPage();
  const problems = noteProblems(page);
  await page.goto(`${server.url}/api/docs`);
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Holdfast API");
  expect(await page.getByText("/repos/{owner}/{repo}", { exact: true }).first().isVisible()).toBe(true);
  expect(problems).toEqual([]);
});

test("what a page's policy refuses, what a page throws and what it does not find are noted", async () => {
  const page = await browser.newPage();
  const problems = noteProblems(page);
  await page.route(`${server.url}/**`, (route) =>
    route.request().url().endsWith("/page")
      ? route.fulfill({
          contentType: "text/html",
          headers: { "Content-Security-Policy": "script-src 'nonce-a'" },
          body: `<script>document.title = "ran"</script><script nonce=a>undefined.thing</script><img src=/gone>`,
        })
      : route.abort(),
  );
  await page.goto(`${server.url}/page`);
  expect(await page.title()).toBe("");
  expect(problems).toEqual([
    expect.stringContaining("Content Security Policy"),
    expect.stringContaining("TypeError"),
    `${server.url}/gone: net::ERR_FAILED`,
    expect.stringContaining("Failed to load resource"),
  ]);
});
