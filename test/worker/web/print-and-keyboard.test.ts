/** Pages on paper, and pages without a mouse. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { describeSome } from "../../harness/sweep.ts";
import { makeWalkedRepository } from "./pages.ts";

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let head: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("paper")]);
  const made = await makeWalkedRepository();
  head = made.head;
  await git(made.dir, "push", "-q", `${server.url}/paper/repo`, "--all");
});
afterAll(() => browser.close());

/** What paper has no use for, and each text that is no dark one on a light ground (relative
 * luminance as WCAG defines it). */
const LOOK_AT_PAPER = `(() => {
  const controls = [...document.querySelectorAll("button, .button, input:enabled, select, textarea, .drop, .tabs, .switches, .skip")];
  const rgb = (color) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = rgb(color).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (rgb(color)[3] === 255) return luminance(color);
    }
    return 1;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const wrong = new Set();
  let seen = 0;
  while (texts.nextNode()) {
    const { parentElement: element, data } = texts.currentNode;
    if (data.trim() === "" || !element.checkVisibility()) continue;
    seen++;
    if (luminance(getComputedStyle(element).color) > 0.2 || groundOf(element) < 0.7) wrong.add(data.trim());
  }
  const shown = controls.filter((control) => control.checkVisibility());
  return { seen, wrong: [...wrong], controls: shown.map(({ outerHTML }) => outerHTML) };
})()`;

describeSome(1, ["dark", "light"] as const, "printed by a browser in %s", (colorScheme) => {
  test.each(["", "/blob/main/src/colours.rs", "/commit/:head"])(
    "page %s: dark on light, nothing to press",
    async (path) => {
      const page = await browser.newPage({ colorScheme });
      await page.goto(`${server.url}/paper/repo${path.replace(":head", head)}`);
      await page.emulateMedia({ media: "print", colorScheme });
      const { seen, wrong, controls } = await page.evaluate<{ seen: number; wrong: string[]; controls: string[] }>(
        LOOK_AT_PAPER,
      );
      expect({ wrong, controls }).toEqual({ wrong: [], controls: [] });
      expect(seen).toBeGreaterThan(10);
      await page.context().close();
    },
  );
});

/** What can be focused and is seen, in the order of the markup. Closed parts have nothing that
 * is. */
const FOCUSABLE = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && element.tabIndex >= 0)`;

/** What has the focus: its place among those, and whether it is seen to have it. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(focused);
  const { left, right, top, bottom } = focused.getBoundingClientRect();
  const isInside = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
  const isMarked = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
  return { at: ${FOCUSABLE}.indexOf(focused), isSeen: isInside && isMarked, text: focused.outerHTML.slice(0, 200) };
})()`;

interface Focused {
  readonly at: number;
  readonly isSeen: boolean;
  readonly text: string;
}

/** Presses Tab, and looks where the focus is then. */
async function tab(page: Page): Promise<Focused> {
  await page.keyboard.press("Tab");
  return page.evaluate<Focused>(FOCUSED);
}

describeSome(1, [1_280, 360], "by keyboard, in a window of %d pixels", (width) => {
  let page: Page;
  beforeAll(async () => {
    page = await browser.newPage({ viewport: { width, height: 800 } });
    await page.goto(`${server.url}/paper/repo`);
  });

  test("Tab leads to every link and button of a repository's page in their order, and is seen", async () => {
    const count = await page.evaluate<number>(`${FOCUSABLE}.length`);
    expect(count).toBeGreaterThan(30);
    const reached: number[] = [];
    const unseen: string[] = [];
    // A browser may stop at what scrolls, too.
    for (let i = 0; i < 2 * count && reached.at(-1) !== count - 1; i++) {
      const { at, isSeen, text } = await tab(page);
      if (at >= 0) reached.push(at);
      if (!isSeen) unseen.push(text);
    }
    expect(unseen).toEqual([]);
    expect(reached).toEqual(Array.from({ length: count }, (_, i) => i));
  });

  test("the first Tab offers to skip what is on every page", async () => {
    await page.reload();
    await tab(page);
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await tab(page);
    expect(await page.evaluate("document.activeElement === document.querySelector('main a[href], main button')")).toBe(
      true,
    );
  });

  test("a list of branches is opened, and one of them chosen", async () => {
    await page.reload();
    const chooser = page.locator("summary", { hasText: "Branch" });
    await chooser.focus();
    await page.keyboard.press("Enter");
    const option = page.getByRole("link", { name: "feature/one", exact: true });
    await expect.poll(() => option.isVisible()).toBe(true);
    for (let i = 0; i < 20; i++) {
      const { isSeen, text } = await tab(page);
      expect(isSeen).toBe(true);
      if (text.includes("/tree/feature/one")) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL("**/tree/feature/one");
  });
});
