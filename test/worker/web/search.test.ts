/** Searching in files and for files: what is found, with scripts and without. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let plain: Page;
let scripted: Page;
let dir: string;

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("searched")]);
  dir = await makeRepository("searched");
  mkdirSync(join(dir, "src/parts"), { recursive: true });
  writeFileSync(join(dir, "src/parts/list.ts"), "one\nconst Word = 1; // word <b>word</b>\nwords\n");
  writeFileSync(join(dir, "many.txt"), "a needle\n".repeat(120));
  writeFileSync(join(dir, "list.md"), "nothing\n");
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "first");
  await git(dir, "push", "-q", `${server.url}/searched/repo`, "HEAD:main");
  plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  scripted = await (await browser.newContext()).newPage();
});
afterAll(() => browser.close());

const marks = () => plain.locator("mark").allInnerTexts();

test("lines are found, their matches marked, and linked to", { tags: "sweep" }, async () => {
  await plain.goto(`${server.url}/searched/repo`);
  await plain.getByRole("link", { name: "Search", exact: true }).click();
  await plain.getByLabel("Search for").fill("word");
  await plain.getByLabel("Branch, tag or commit").fill("main");
  await plain.getByRole("button", { name: "Search" }).click();
  await plain.waitForURL("**q=word**");
  expect(await marks()).toEqual(["Word", "word", "word", "word"]);
  expect(await plain.locator(".hits code").first().innerText()).toBe("const Word = 1; // word <b>word</b>");
  await plain.getByLabel("Match case").check();
  await plain.getByLabel("Whole words").check();
  await plain.getByRole("button", { name: "Search" }).click();
  await plain.waitForURL("**word=1**");
  expect(await marks()).toEqual(["word", "word"]);
  await plain.locator(".hits a").first().click();
  await plain.waitForURL(`${server.url}/searched/repo/blob/main/src/parts/list.ts#L2`);
});

test("all lines are found, page by page, each once, in the commit of the first page", async () => {
  await plain.goto(`${server.url}/searched/repo/search?q=NEEDLE`);
  const lines: string[] = [];
  for (;;) {
    lines.push(...(await plain.locator(".hits a").allInnerTexts()));
    const more = plain.getByRole("link", { name: "Search on" });
    if ((await more.count()) === 0) break;
    await more.click();
    await plain.waitForLoadState();
    await expect.poll(() => plain.url()).toContain(`line=${lines.length}`);
  }
  expect(lines).toEqual(Array.from({ length: 120 }, (_, i) => String(i + 1)));
});

test("a file is found by parts of its path, the best first", async () => {
  await plain.goto(`${server.url}/searched/repo/find/main`);
  await plain.getByRole("searchbox").fill("S LIST");
  await plain.getByRole("button", { name: "Find" }).click();
  await plain.waitForURL("**q=S+LIST");
  expect(await plain.locator(".found a").allInnerTexts()).toEqual(["src/parts/list.ts"]);
  await plain.getByRole("searchbox").fill("list");
  await plain.getByRole("button", { name: "Find" }).click();
  await plain.waitForURL("**q=list");
  expect(await plain.locator(".found a").allInnerTexts()).toEqual(["list.md", "src/parts/list.ts"]);
});

test("keys: t finds while typing, y leads to the permalink, / to the search", { tags: "sweep" }, async () => {
  await scripted.goto(`${server.url}/searched/repo`);
  await scripted.keyboard.press("t");
  await scripted.waitForURL("**/find/main");
  // A key that is typed into a field leads nowhere.
  await scripted.keyboard.type("parts/");
  await expect.poll(() => scripted.locator(".found a").allInnerTexts()).toEqual(["src/parts/list.ts"]);
  expect(new URL(scripted.url()).pathname).toBe("/searched/repo/find/main");
  await scripted.locator(".found a").click();
  await scripted.waitForURL("**/blob/main/**");
  await scripted.keyboard.press("y");
  await scripted.waitForURL(`**/blob/${await git(dir, "rev-parse", "HEAD")}/src/parts/list.ts`);
  await scripted.keyboard.press("/");
  await scripted.waitForURL("**/search");
  await scripted.getByLabel("Branch, tag or commit").focus();
  await scripted.keyboard.type("/t");
  expect(await scripted.getByLabel("Branch, tag or commit").inputValue()).toBe("/t");
});
