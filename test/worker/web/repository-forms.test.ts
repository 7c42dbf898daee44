/** Repositories made, forked and brought forward in a browser. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { describeSome } from "../../harness/sweep.ts";
import { FORM_WAYS, sendForm } from "./form-ways.ts";

describeSome(1, FORM_WAYS, "$name", (way) => {
  const owner = `made-${way.scheme}`;
  let browser: SharedBrowser;
  let server: Pick<Server, "url">;
  let page: Page;
  let dir: string;

  beforeAll(async () => {
    [browser, server] = await Promise.all([shareBrowser(), shareServer(owner)]);
    dir = await makeRepository(owner);
    await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    await page?.context().close();
    page = await (await browser.newContext({ javaScriptEnabled: way.scripts, colorScheme: way.scheme })).newPage();
  });

  const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value);

  const send = (button: string) => sendForm(page, way, button);

  test("a repository is made, and its page's commands bring a history to it", async () => {
    await page.goto(server.url);
    await page.getByRole("link", { name: "New repository" }).click();
    await fill("Owner", owner);
    await fill("Name", "by-form");
    await fill("Description", "Of <b>forms</b>");
    await fill("Default branch", "trunk");
    await page.getByLabel("Who may read it").selectOption("public");
    expect(await send("Create")).toBe(303);
    expect(new URL(page.url()).pathname).toBe(`/${owner}/by-form`);
    const commands = await page.locator("pre").last().innerText();
    await git(dir, "branch", "-M", "trunk");
    for (const command of commands.trim().split("\n")) await git(dir, ...command.split(" ").slice(1));
    // A page with scripts is told of the push, and loads itself again.
    if (way.scripts) await page.locator("[data-renewed]").first().waitFor();
    else await page.reload();
    expect(await page.locator("main").innerText()).toContain("Of <b>forms</b>");
    expect(await git(dir, "ls-remote", "--symref", `${server.url}/${owner}/by-form`, "HEAD")).toContain(
      "refs/heads/trunk",
    );
  });

  test("what is wrong with a repository is beside its field, and the rest is kept", { tags: "sweep" }, async () => {
    await page.goto(`${server.url}/-/new?owner=${owner}`);
    expect(await page.getByLabel("Owner").inputValue()).toBe(owner);
    await fill("Name", "no slash/please");
    await fill("Description", "kept");
    expect(await send("Create")).toBe(422);
    expect(await page.locator("#name-fault").innerText()).toContain("letters, digits");
    expect(await page.getByLabel("Description").inputValue()).toBe("kept");
    await fill("Name", "twice");
    expect(await send("Create")).toBe(303);
    await page.goto(`${server.url}/-/new?owner=${owner}`);
    await fill("Name", "twice");
    expect(await send("Create")).toBe(409);
    expect(await page.locator("#name-fault").innerText()).toContain("exists");
    await fill("Name", "TWICE");
    expect(await send("Create")).toBe(422);
  });

  test("a fork has what is there, and is brought forward until it has commits of its own", async () => {
    const url = `${server.url}/${owner}/parent`;
    await git(dir, "push", "-q", url, "HEAD:main", "HEAD:topic");
    await page.goto(url);
    await page.getByRole("link", { name: "Fork", exact: true }).click();
    await fill("Owner", owner);
    await fill("Name", "child");
    await page.getByLabel("alone, with its tags").check();
    // What only a private repository's fork may be.
    expect(await page.getByLabel("Who may read it").locator("option").allInnerTexts()).toEqual([
      "Who has a token for it",
    ]);
    expect(await send("Fork")).toBe(303);
    expect(new URL(page.url()).pathname).toBe(`/${owner}/child`);
    expect(await page.locator("main").innerText()).toContain(`Fork of ${owner}/parent`);
    const refs = await git(dir, "ls-remote", "--heads", `${server.url}/${owner}/child`);
    expect(refs).toContain("refs/heads/main");
    expect(refs).not.toContain("topic");
    await git(dir, "commit", "-q", "--allow-empty", "-m", "second");
    const head = await git(dir, "rev-parse", "HEAD");
    await git(dir, "push", "-q", url, "HEAD:main");
    expect(await send("Bring forward from there")).toBe(303);
    expect(await git(dir, "ls-remote", `${server.url}/${owner}/child`, "main")).toContain(head);
    await git(dir, "commit", "-q", "--allow-empty", "-m", "of its own");
    await git(dir, "push", "-q", `${server.url}/${owner}/child`, "HEAD:main");
    await git(dir, "commit", "-q", "--amend", "--allow-empty", "-m", "of the parent's");
    await git(dir, "push", "-q", url, "HEAD:main");
    expect(await send("Bring forward from there")).toBe(409);
    expect(await page.locator("main").innerText()).toContain("commits of its own");
  });
});
