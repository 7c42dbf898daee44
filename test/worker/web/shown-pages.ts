/** Walks through pages of `PAGES` in a browser: each is whole, without a fault that axe finds, and
 * without a report of its policy. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFaults } from "../../harness/axe.ts";
import { noteProblems, shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { PAGES } from "./pages.ts";
import { serveWalked, type WalkedServers } from "./walked-servers.ts";

/** How a browser shows pages. */
export interface Way {
  readonly name: string;
  readonly scheme: "light" | "dark";
  readonly scripts: boolean;
  /** Of the window, CSS pixels. */
  readonly width: number;
}

/** The ways in which all pages are shown. axe looks at those with scripts, since it is one. */
export const ON_PHONES = [
  { name: "dark, with scripts, on a phone", scheme: "dark", scripts: true, width: 360 },
  { name: "light, without scripts, on the smallest phone", scheme: "light", scripts: false, width: 320 },
] as const satisfies readonly Way[];
export const ON_SCREENS = [
  { name: "light, with scripts, on a screen", scheme: "light", scripts: true, width: 1_280 },
  { name: "dark, without scripts, on a screen", scheme: "dark", scripts: false, width: 1_280 },
] as const satisfies readonly Way[];

/** Declares the tests of pages, shown in each of some ways.
 * @param isShown whether a page is shown in a way, by their positions; default: each is, in each */
export function testPages(ways: readonly Way[], isShown: (page: number, way: number) => boolean = () => true): void {
  let browser: SharedBrowser;
  let servers: WalkedServers;

  beforeAll(async () => {
    [browser, servers] = await Promise.all([shareBrowser(), serveWalked()]);
  });

  afterAll(() => browser.close());

  describe.each(ways.map((way, at) => ({ ...way, at })))("$name", ({ scheme, scripts, width, at }) => {
    let page: Page;
    let problems: string[];
    beforeAll(async () => {
      const viewport = { width, height: 800 };
      const context = await browser.newContext({ colorScheme: scheme, javaScriptEnabled: scripts, viewport });
      page = await context.newPage();
      problems = noteProblems(page);
    });
    afterAll(() => page.context().close());

    test.each(PAGES.filter((_, page) => isShown(page, at)))(
      "$name: $path",
      async ({ path, isLocked = false, status = 200, says }) => {
        problems.length = 0;
        const response = (await page.goto(servers.urlOf({ path, isLocked })))!;
        expect(response.status()).toBe(status);
        const main = page.locator("main");
        expect(await main.innerText()).toMatch(says);
        expect(await page.locator("h1").count()).toBe(1);
        expect(await page.title()).not.toBe("ran");
        expect(response.headers()["content-security-policy"]).toMatch(/^default-src 'none';(?!.*unsafe)/);
        if (scripts) {
          expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
          expect(await findFaults(page)).toEqual([]);
        }
        // A browser's console reports the status itself.
        expect(problems.filter((problem) => !problem.includes(`status of ${status}`))).toEqual([]);
      },
    );
  });
}
