/** What the script adds for those whose browsers run it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeWalkedRepository } from "./pages.ts";

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let page: Page;

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("script")]);
  const { dir } = await makeWalkedRepository();
  await git(dir, "push", "-q", `${server.url}/script/repo`, "--all");
});
afterAll(() => browser.close());
beforeEach(async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  page = await context.newPage();
});

test("a command is copied, and git takes it", { tags: "sweep" }, async () => {
  await page.goto(`${server.url}/script/repo`);
  await page.getByText("Clone", { exact: true }).click();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied).toBe(`${server.url}/script/repo.git`);
  expect(await git(".", "ls-remote", copied)).toContain("refs/heads/main");
});

test(
  "branches are filtered by what is typed, and Enter takes the first; Escape closes",
  { tags: "sweep" },
  async () => {
    await page.goto(`${server.url}/script/repo/tree/main/src`);
    const chooser = page.locator("summary", { hasText: "Branch" });
    await chooser.click();
    // The field gets the focus by itself.
    await page.locator(".panel input:focus").waitFor();
    await page.keyboard.type("FEAT");
    const shown = page.locator("[open] .panel li:not([hidden])");
    expect(await shown.allInnerTexts()).toEqual(["feature/one"]);
    await page.keyboard.press("Enter");
    await page.waitForURL(`${server.url}/script/repo/tree/feature/one/src`);
    await chooser.click();
    await page.keyboard.press("Escape");
    expect(await page.locator(".panel").first().isVisible()).toBe(false);
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
  },
);

test("the lines that the URL names are marked and seen; a click with Shift names more", async () => {
  await page.goto(`${server.url}/script/repo/blob/main/src/code.ts#L60-L62`);
  const marked = page.locator(".numbers .marked");
  expect(await marked.allInnerTexts()).toEqual(["60", "61", "62"]);
  const [bar, line] = [await page.locator(".mark-line").boundingBox(), await page.locator("#L60").boundingBox()];
  expect(Math.abs(bar!.y - line!.y)).toBeLessThan(2);
  expect(line!.y).toBeGreaterThan(0);
  expect(line!.y).toBeLessThan(page.viewportSize()!.height);
  await page.locator("#L64").click();
  await expect.poll(() => marked.allInnerTexts()).toEqual(["64"]);
  await page.locator("#L66").click({ modifiers: ["Shift"] });
  await expect.poll(() => marked.allInnerTexts()).toEqual(["64", "65", "66"]);
  expect(new URL(page.url()).hash).toBe("#L64-L66");
});

test("a repository's page shows what is pushed, and leaves alone where the focus is", { tags: "sweep" }, async () => {
  const dir = await makeRepository("live");
  const url = `${server.url}/script/live`;
  await askApi(server, "/repos", { method: "POST", json: { owner: "script", name: "live" } });
  const push = async (name: string): Promise<void> => {
    writeFileSync(join(dir, name), name);
    await git(dir, "add", name);
    await git(dir, "commit", "-q", "-m", `Add ${name}`);
    await git(dir, "push", "-q", url, "HEAD:main");
  };
  await page.goto(url);
  await page.getByText("Nothing has been pushed yet").waitFor();
  await push("first");
  await page.getByRole("link", { name: "first", exact: true }).waitFor();
  await push("README.md");
  await page.getByRole("heading", { name: "README.md" }).waitFor();
  await page.getByText("2 commits").waitFor();
  // Somebody goes through the files by keyboard.
  await page.getByRole("link", { name: "first", exact: true }).focus();
  await push("third");
  await page.getByText("3 commits").waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toBe("first");
  expect(await page.getByRole("link", { name: "third", exact: true }).count()).toBe(0);
  // It goes on from there after a while without a connection.
  await page.context().setOffline(true);
  await page.evaluate("document.activeElement.blur()");
  await push("fourth");
  await page.context().setOffline(false);
  await page.getByRole("link", { name: "fourth", exact: true }).waitFor();
});
