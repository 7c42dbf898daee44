/** Mirrors in a browser that runs no scripts: made, brought up to date, deleted. */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { Mirrors } from "../../harness/mirrors.ts";
import { type NativeServer, startNative } from "../../harness/native.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";

let browser: SharedBrowser;
let server: Awaited<ReturnType<typeof shareServer>>;
let native: NativeServer;
let target: string;
let page: Page;

beforeAll(async () => {
  const root = makeTempDir("targets");
  [browser, server, native] = await Promise.all([
    shareBrowser(),
    shareServer("mirrored", { ALLOW_PRIVATE_IMPORTS: "on" }),
    startNative(root),
  ]);
  target = join(root, "target.git");
  await git(root, "init", "-q", "--bare", target);
  const dir = await makeRepository("mirrored");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url}/mirrored/repo`, "HEAD:main");
  page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
});
afterAll(async () => {
  await native.close();
  await browser.close();
});

test("a mirror is made, shows what is refused, is brought up to date and deleted", { tags: "sweep" }, async () => {
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.goto(`${server.url}/mirrored/repo/settings`);
  await page.getByRole("link", { name: "Mirrors" }).click();
  await page.getByLabel("Address").fill("https://user@example.com/a.git");
  await page.getByLabel("Authorization").fill("Bearer secret");
  await page.getByRole("textbox", { name: "Refs" }).fill("refs/heads/");
  await page.getByLabel("Delete refs there").check();
  await page.getByLabel("Send objects of Git LFS").check();
  await press("Make the mirror");
  expect(await page.getByRole("alert").textContent()).toContain("it has a user or password");
  expect(await page.getByLabel("Address").inputValue()).toBe("https://user@example.com/a.git");
  expect(await page.getByLabel("Delete refs there").isChecked()).toBe(true);
  expect(await page.getByLabel("Send objects of Git LFS").isChecked()).toBe(true);
  expect(await page.content()).not.toContain("Bearer secret");
  await page.getByLabel("Address").fill(`${native.url}/target.git`);
  for (const refs of ["heads", "refs/heads/ refs/\u0001"]) {
    await page.getByRole("textbox", { name: "Refs" }).fill(refs);
    await press("Make the mirror");
    expect(await page.getByRole("alert").textContent()).toContain("beginnings of names");
  }
  await page.getByRole("textbox", { name: "Refs" }).fill("refs/heads/");
  await press("Make the mirror");
  const mirrors = new Mirrors(server, "mirrored/repo");
  const id = await page.locator("form.links input[name=id]").getAttribute("value");
  await mirrors.settled(id!);
  const theirs = await git(target, "commit-tree", "-m", "theirs", "main^{tree}");
  await git(target, "update-ref", "refs/heads/main", theirs);
  await press("Send now");
  await mirrors.settled(id!);
  await page.reload();
  expect(await page.getByRole("list", { name: "Refused" }).textContent()).toMatch(/refs\/heads\/main.*not here/);
  await page.getByText("prunes", { exact: true }).waitFor();
  await page.locator(".badge", { hasText: "Git LFS" }).waitFor();
  await page.getByText("0 objects of Git LFS were sent").waitFor();
  await press("Delete");
  await page.getByText("There are none.").waitFor();
  expect(await git(target, "rev-parse", "main")).toBe(theirs);
});
