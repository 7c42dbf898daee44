/** Files changed in a browser: what git finds afterwards, and what a form keeps. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { describeSome } from "../../harness/sweep.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { FORM_WAYS, sendForm } from "./form-ways.ts";

describeSome(1, FORM_WAYS, "$name", (way) => {
  const owner = `forms-${way.scheme}`;
  let browser: SharedBrowser;
  let server: Pick<Server, "url">;
  let page: Page;
  /** A clone, to look and to push. */
  let dir: string;

  const TEXT = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");

  beforeAll(async () => {
    [browser, server] = await Promise.all([shareBrowser(), shareServer(owner)]);
    dir = await makeRepository("edited");
    await git(dir, "remote", "add", "origin", `${server.url}/${owner}/repo`);
    await git(dir, "commit", "-q", "--allow-empty", "-m", "Begin");
    await git(dir, "push", "-q", "origin", "HEAD:main");
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    await page?.context().close();
    const context = await browser.newContext({ javaScriptEnabled: way.scripts, colorScheme: way.scheme });
    page = await context.newPage();
  });

  /** Pushes a file to `main`, or its deletion. */
  async function pushFile(path: string, content: string | Uint8Array | null): Promise<void> {
    await git(dir, "fetch", "-q", "origin");
    await git(dir, "reset", "-q", "--hard", "origin/main");
    if (content === null) rmSync(join(dir, path));
    else writeFileSync(join(dir, path), content);
    await git(dir, "add", "-A");
    await git(dir, "commit", "-q", "-m", `Write ${path}`);
    await git(dir, "push", "-q", "origin", "HEAD:main");
  }

  async function open(path: string): Promise<void> {
    const response = await page.goto(`${server.url}/${owner}/repo/${path}`);
    expect(response!.status()).toBe(200);
  }

  /** Says who commits, and sends the form.
   * @returns the status of the answer */
  async function commit(button = "Commit"): Promise<number> {
    await page.getByLabel("Your name").fill("Ada Example");
    await page.getByLabel("Your email").fill("ada@example.com");
    return sendForm(page, way, button);
  }

  /** The bytes that git finds on a branch, as text. */
  async function fetchText(branch: string, path: string): Promise<string> {
    await git(dir, "fetch", "-q", "--prune", "origin");
    return (await tryGit(dir, ["cat-file", "blob", `origin/${branch}:${path}`])).stdoutBytes.toString();
  }

  const content = () => page.locator("textarea[name=content]");
  const alert = () => page.getByRole("alert").innerText();

  test("a file is edited: one commit, by who says so, and lines keep their ends", async () => {
    await pushFile("windows.txt", "\ufeffone\r\ntwo\r\nthree");
    await open("blob/main/windows.txt");
    await page.getByRole("link", { name: "Edit" }).click();
    await page.waitForURL("**/edit/main/windows.txt");
    expect(await page.locator("#content-hint").innerText()).toContain("CR LF. The last line has none.");
    await content().fill("\ufeffone\nTWO & <b>\nthree");
    await page.getByLabel("Summary").fill("Shout");
    await page.getByLabel("Description").fill("Why not.\n\nIndeed.");
    expect(await commit()).toBe(303);
    expect(new URL(page.url()).pathname).toBe(`/${owner}/repo/blob/main/windows.txt`);
    expect(await fetchText("main", "windows.txt")).toBe("\ufeffone\r\nTWO & <b>\r\nthree");
    expect(await git(dir, "log", "-1", "--format=%an <%ae>%n%B", "origin/main")).toBe(
      "Ada Example <ada@example.com>\nShout\n\nWhy not.\n\nIndeed.\n",
    );
  });

  test("what is sent unchanged stays, byte for byte, and makes no commit", { tags: "sweep" }, async () => {
    const odd = "\n\n a\tb\r\nc\rd\n\u0007\u202e\u{1f600}</textarea>&amp;\n\n";
    await pushFile("odd.txt", odd);
    const before = await git(dir, "rev-parse", "HEAD");
    await open("edit/main/odd.txt");
    expect(await commit()).toBe(303);
    await git(dir, "fetch", "-q", "origin");
    expect(await git(dir, "rev-parse", "origin/main")).toBe(before);
    expect(await fetchText("main", "odd.txt")).toBe(odd);
  });

  test("who commits is remembered, and the form's own words are the summary", { tags: "sweep" }, async () => {
    await pushFile("words.txt", "a\n");
    await open("edit/main/words.txt");
    await content().fill("b\n");
    await commit();
    await git(dir, "fetch", "-q", "origin");
    expect(await git(dir, "log", "-1", "--format=%s", "origin/main")).toBe("Change words.txt");
    await open("edit/main/words.txt");
    expect(await page.getByLabel("Your email").inputValue()).toBe("ada@example.com");
  });

  test("a file is moved while it is edited, and never over another one", { tags: "sweep" }, async () => {
    await pushFile("old.txt", TEXT);
    await pushFile("taken.txt", "taken\n");
    await open("edit/main/old.txt");
    await page.getByRole("textbox", { name: "Path" }).fill("taken.txt");
    await content().fill(`${TEXT}more\n`);
    expect(await commit()).toBe(422);
    expect(await alert()).toContain("something of this name already");
    expect(await content().inputValue()).toBe(`${TEXT}more\n`);
    await page.getByRole("textbox", { name: "Path" }).fill("below/new name.txt");
    expect(await commit()).toBe(303);
    expect(await fetchText("main", "below/new name.txt")).toBe(`${TEXT}more\n`);
    expect(await git(dir, "ls-tree", "--name-only", "origin/main", "old.txt")).toBe("");
  });

  test("a file keeps a name that no form can hold", { tags: "sweep" }, async () => {
    const name = Buffer.from("new\nline \xff%", "latin1");
    await git(dir, "fetch", "-q", "origin");
    await git(dir, "reset", "-q", "--hard", "origin/main");
    writeFileSync(Buffer.concat([Buffer.from(`${dir}/`), name]), "a\n");
    await git(dir, "add", "-A");
    await git(dir, "commit", "-q", "-m", "Write an odd name");
    await git(dir, "push", "-q", "origin", "HEAD:main");
    await open("edit/main/new%0Aline%20%FF%25");
    await content().fill("b\n");
    expect(await commit()).toBe(303);
    await git(dir, "fetch", "-q", "origin");
    expect(await git(dir, "diff", "--stat", "--numstat", "HEAD", "origin/main")).toContain('1\t1\t"new\\nline \\377%"');
  });

  test("what others pushed meanwhile is kept", { tags: "sweep" }, async () => {
    await pushFile("shared.txt", TEXT);
    await open("edit/main/shared.txt");
    await content().fill(TEXT.replace("line 1\n", "mine\n"));
    await pushFile("shared.txt", TEXT.replace("line 18\n", "theirs\n"));
    expect(await commit()).toBe(303);
    const both = TEXT.replace("line 1\n", "mine\n").replace("line 18\n", "theirs\n");
    expect(await fetchText("main", "shared.txt")).toBe(both);
  });

  test(
    "a conflict shows both sides, loses no word, and can be resolved, or put aside on a branch",
    { tags: "sweep" },
    async () => {
      await pushFile("conflict.txt", TEXT);
      const mine = TEXT.replace("line 9\n", "mine <i>\n");
      const start = async () => {
        await open("edit/main/conflict.txt");
        await content().fill(mine);
        await page.getByLabel("Summary").fill("My summary");
      };
      await start();
      await pushFile("conflict.txt", TEXT.replace("line 9\n", "theirs & more\n"));
      expect(await commit()).toBe(409);
      expect(await page.getByRole("heading", { level: 2 }).first().innerText()).toBe("Somebody changed the same");
      const sides = await page.locator(".sides td pre").allInnerTexts();
      expect(sides.map((side) => side.trim())).toEqual(["theirs & more", "mine <i>"]);
      expect(await content().inputValue()).toBe(mine);
      expect(await page.getByLabel("Summary").inputValue()).toBe("My summary");
      expect(await page.locator("#theirs").inputValue()).toContain("theirs & more");
      // It has not been lost by asking, and is replaced only now.
      expect(await fetchText("main", "conflict.txt")).toContain("theirs & more");
      await content().fill(mine.replace("mine <i>\n", "mine <i>\ntheirs & more\n"));
      expect(await commit()).toBe(303);
      expect(await fetchText("main", "conflict.txt")).toBe(mine.replace("mine <i>\n", "mine <i>\ntheirs & more\n"));

      await pushFile("conflict.txt", TEXT);
      await start();
      await pushFile("conflict.txt", TEXT.replace("line 9\n", "again\n"));
      expect(await commit()).toBe(409);
      await page.getByLabel("To a new branch").check();
      await page.getByLabel("Name of the new branch").fill("aside/one");
      expect(await commit()).toBe(303);
      expect(new URL(page.url()).pathname).toBe(`/${owner}/repo/blob/aside/one/conflict.txt`);
      expect(await fetchText("aside/one", "conflict.txt")).toBe(mine);
      expect(await fetchText("main", "conflict.txt")).toContain("again");
    },
  );

  test("a file that others deleted meanwhile is told, with what was typed", { tags: "sweep" }, async () => {
    await pushFile("gone.txt", TEXT);
    await open("edit/main/gone.txt");
    await content().fill(`${TEXT}mine\n`);
    await pushFile("gone.txt", null);
    expect(await commit()).toBe(409);
    expect(await page.locator("main").innerText()).toContain("modify/delete");
    expect(await content().inputValue()).toBe(`${TEXT}mine\n`);
    expect(await commit()).toBe(303);
    expect(await fetchText("main", "gone.txt")).toBe(`${TEXT}mine\n`);
  });

  test("faults are beside their fields, and all that was typed is kept", async () => {
    await pushFile("faults.txt", "a\n");
    await open("edit/main/faults.txt");
    await content().fill("typed\n");
    await page.getByLabel("Description").fill("described");
    await page.getByLabel("To a new branch").check();
    await page.getByLabel("Name of the new branch").fill("..no branch");
    await page.getByLabel("Your name").fill("<>");
    await page.getByLabel("Your email").fill("ada@example.com");
    expect(await sendForm(page, way, "Commit")).toBe(422);
    expect(await page.locator("#newBranch-fault").innerText()).toContain("no valid name");
    expect(await page.locator("#author-fault").innerText()).toContain("without <, >");
    expect(await page.getByLabel("Name of the new branch").getAttribute("aria-describedby")).toContain(
      "newBranch-fault",
    );
    expect(await content().inputValue()).toBe("typed\n");
    expect(await page.getByLabel("Description").inputValue()).toBe("described");
    await page.getByLabel("Name of the new branch").fill("main");
    expect(await commit()).toBe(422);
    expect(await page.locator("#newBranch-fault").innerText()).toContain("exists");
  });

  test("a new file, with directories; not where one is, and not where git allows none", { tags: "sweep" }, async () => {
    await pushFile("there.txt", "a\n");
    await open("tree/main");
    await page.getByText("Change", { exact: true }).click();
    await page.getByRole("link", { name: "New file" }).click();
    await page.getByRole("textbox", { name: "Path" }).fill("there.txt");
    await content().fill("written");
    expect(await commit()).toBe(422);
    await page.getByRole("textbox", { name: "Path" }).fill("a/.git/config");
    expect(await commit()).toBe(422);
    expect(await page.locator("#path-fault").innerText()).toContain("hasDotgit");
    await page.getByRole("textbox", { name: "Path" }).fill("there.txt/below");
    expect(await commit()).toBe(409);
    expect(await page.locator("#path-fault").innerText()).toContain("below a file");
    await page.getByRole("textbox", { name: "Path" }).fill("née/ü .txt");
    expect(await commit()).toBe(303);
    expect(await fetchText("main", "née/ü .txt")).toBe("written\n");
  });

  test("what is no UTF-8, and what is binary or large, is told and not offered", { tags: "sweep" }, async () => {
    await pushFile("latin.txt", Buffer.from("caf\xe9\n", "latin1"));
    await open("blob/main/latin.txt");
    expect(await page.getByRole("link", { name: "Edit" }).count()).toBe(0);
    await open("edit/main/latin.txt");
    expect(await page.locator("main").innerText()).toContain("not UTF-8");
    expect(await page.locator("textarea").count()).toBe(0);
  });

  test("files are uploaded together, and replace those of the same name", async () => {
    await pushFile("up.bin", "old");
    await open("upload/main");
    await page.locator("#files").setInputFiles([
      { name: "up.bin", mimeType: "", buffer: Buffer.from([0, 255, 13, 10]) },
      { name: "zwei & <b>.txt", mimeType: "", buffer: Buffer.from("zwei") },
    ]);
    expect(await commit("Upload")).toBe(303);
    await git(dir, "fetch", "-q", "origin");
    const { stdoutBytes } = await tryGit(dir, ["cat-file", "blob", "origin/main:up.bin"]);
    expect([...stdoutBytes]).toEqual([0, 255, 13, 10]);
    expect(await fetchText("main", "zwei & <b>.txt")).toBe("zwei");
    expect(await git(dir, "log", "-1", "--format=%s", "origin/main")).toBe("Upload files");
  });

  test("a file is deleted, but not what others wrote there meanwhile", { tags: "sweep" }, async () => {
    await pushFile("doomed.txt", TEXT);
    await open("blob/main/doomed.txt");
    await page.getByRole("link", { name: "Delete" }).click();
    await page.waitForURL("**/delete/**");
    await pushFile("doomed.txt", `${TEXT}more\n`);
    expect(await commit("Delete")).toBe(409);
    expect(await fetchText("main", "doomed.txt")).toContain("more");
    await open("delete/main/doomed.txt");
    expect(await commit("Delete")).toBe(303);
    await git(dir, "fetch", "-q", "origin");
    expect(await git(dir, "ls-tree", "--name-only", "origin/main", "doomed.txt")).toBe("");
  });

  test("a form that does not say for which commit it was made, or misspells it, is refused", async () => {
    await pushFile("kept.txt", TEXT);
    const before = await git(dir, "rev-parse", "HEAD");
    for (const condition of [{}, { Base: before }, { base: "main" }]) {
      const form = new FormData();
      for (const [name, value] of Object.entries({ ...condition, path: "kept.txt", content: "lost\n" }))
        form.set(name, value);
      const headers = { Origin: server.url, Accept: "text/html" };
      const answer = await fetch(`${server.url}/${owner}/repo/edit/main/kept.txt`, {
        method: "POST",
        headers,
        body: form,
      });
      expect(answer.status).toBe(400);
    }
    await git(dir, "fetch", "-q", "origin");
    expect(await git(dir, "rev-parse", "origin/main")).toBe(before);
  });

  test("files that are too large together are told", { tags: "sweep" }, async () => {
    await open("upload/main");
    const huge = join(makeTempDir("huge"), "huge");
    writeFileSync(huge, Buffer.alloc(18_000_000));
    await page.locator("#files").setInputFiles(huge);
    expect(await commit("Upload")).toBe(413);
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Too large");
  });
});
