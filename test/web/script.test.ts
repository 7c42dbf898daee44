/** What the script adds for those whose browsers run it. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startBrowser } from "../harness/browser.ts";
import { git } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeWalkedRepository } from "./pages.ts";

let browser: Browser;
let server: Pick<Server, "url">;
let page: Page;

beforeAll(async () => {
  [browser, server] = await Promise.all([startBrowser(), shareServer("script")]);
  const { dir } = await makeWalkedRepository();
  await git(dir, "push", "-q", `${server.url}/script/repo`, "--all");
});
afterAll(() => browser.close());
beforeEach(async () => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  page = await context.newPage();
});

test("a command is copied, and git takes it", async () => {
  await page.goto(`${server.url}/script/repo`);
  await page.getByText("Clone", { exact: true }).click();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied).toBe(`${server.url}/script/repo.git`);
  expect(await git(".", "ls-remote", copied)).toContain("refs/heads/main");
});

test("branches are filtered by what is typed, and Enter takes the first; Escape closes", async () => {
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
});

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
