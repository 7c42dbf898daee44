/** A repository's settings, changed in a browser, by those who may. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { describeSome } from "../../harness/sweep.ts";
import { FORM_WAYS, sendForm } from "./form-ways.ts";
import { ADMIN_TOKEN, shareServer, WITH_TOKENS } from "../../harness/shared-server.ts";

describeSome(1, FORM_WAYS, "$name", (way) => {
  const owner = `settled-${way.scheme}`;
  let browser: SharedBrowser;
  let server: Pick<Server, "url">;
  let page: Page;
  let dir: string;

  const OPERATOR = { headers: { Authorization: `Bearer ${ADMIN_TOKEN}` } };
  const gitUrl = (token: string, name: string) => `${server.url.replace("://", `://me:${token}@`)}/${owner}/${name}`;

  beforeAll(async () => {
    [browser, server] = await Promise.all([shareBrowser(), shareServer(owner, WITH_TOKENS)]);
    dir = await makeRepository(owner);
    await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "repo"), "HEAD:main", "HEAD:other");
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    await page?.context().close();
    page = await (await browser.newContext({ javaScriptEnabled: way.scripts, colorScheme: way.scheme })).newPage();
  });

  async function signIn(token: string, to: string): Promise<void> {
    await page.goto(`${server.url}/-/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(server.url + to);
  }

  const fill = (label: string, value: string) => page.getByLabel(label, { exact: true }).fill(value);

  const send = (button: string) => sendForm(page, way, button);

  async function makeToken(wanted: Record<string, unknown>): Promise<string> {
    const json = { owner, name: "test", ...wanted };
    return (await askApi<{ token: string }>(server, "/tokens", { method: "POST", json, ...OPERATOR })).body.token;
  }

  test("an admin changes what a repository is for, who may read it, and its default branch", async () => {
    const token = await makeToken({ repository: "repo", right: "admin" });
    await signIn(token, `/${owner}/repo`);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.waitForURL("**/settings");
    // A token for one repository cannot take a name of the owner's others.
    expect(await page.getByLabel("Name", { exact: true }).getAttribute("readonly")).not.toBeNull();
    await fill("Description", "for <i>all</i>");
    await page.getByLabel("Who may read it").selectOption("public");
    await fill("Default branch", "nothing");
    expect(await send("Save")).toBe(422);
    expect(await page.locator("#defaultBranch-fault").innerText()).toContain("does not exist");
    expect(await page.getByLabel("Description").inputValue()).toBe("for <i>all</i>");
    await fill("Default branch", "other");
    expect(await send("Save")).toBe(303);
    const { body } = await askApi(server, `/repos/${owner}/repo`);
    expect(body).toMatchObject({ description: "for <i>all</i>", visibility: "public", defaultBranch: "other" });
  });

  test("a repository is renamed by who may, and only to a free name", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "old-name"), "HEAD:main");
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "taken"), "HEAD:main");
    await signIn(await makeToken({ right: "admin" }), `/${owner}/old-name/settings`);
    await fill("Name", "taken");
    expect(await send("Save")).toBe(409);
    expect(await page.locator("#name-fault").innerText()).toContain("exists");
    await fill("Name", "new-name");
    expect(await send("Save")).toBe(303);
    expect(new URL(page.url()).pathname).toBe(`/${owner}/new-name/settings`);
  });

  test("protected refs bind pushes at once", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "guarded"), "HEAD:main");
    await signIn(await makeToken({ right: "admin" }), `/${owner}/guarded/settings/protected`);
    const rule = page.getByRole("group", { name: "A new rule" }).first();
    await rule.getByLabel("Refs").fill("heads/main");
    await rule.getByLabel("No deletion").check();
    expect(await send("Save")).toBe(422);
    expect(await page.locator("#pattern-0-fault").innerText()).toContain("begins with refs/");
    expect(await page.locator("#noDelete-0").isChecked()).toBe(true);
    await page.locator("#pattern-0").fill("refs/heads/main");
    await page.locator("#tokens-0").fill("no-such-token");
    expect(await send("Save")).toBe(422);
    expect(await page.locator("#tokens-0-fault").innerText()).toContain("no-such-token");
    await page.locator("#tokens-0").fill("");
    await page.locator("#pattern-1").fill("refs/tags/**");
    await page.locator("#fastForwardOnly-1").check();
    await page.locator("#checks-1").fill(`ci/tests\n${"x".repeat(201)}`);
    expect(await send("Save")).toBe(422);
    expect(await page.locator("#checks-1-fault").innerText()).toContain("200 characters");
    await page.locator("#checks-1").fill("ci/tests\n\n lint ");
    expect(await send("Save")).toBe(303);
    const rules = await askApi(server, `/repos/${owner}/guarded/protected-refs`, OPERATOR);
    expect(rules.body).toMatchObject({
      rules: [
        { pattern: "refs/heads/main", noDelete: true, noForce: false, fastForwardOnly: false, allowedTokens: null },
        { pattern: "refs/tags/**", fastForwardOnly: true, requiredContexts: ["ci/tests", "lint"] },
      ],
    });
    await page.locator("#pattern-0").fill("");
    expect(await send("Save")).toBe(303);
    expect(await page.locator("#pattern-0").inputValue()).toBe("refs/tags/**");
    expect(await page.locator("#checks-0").inputValue()).toBe("ci/tests\nlint");
  });

  test("who may not move a branch is offered another one", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "kept"), "HEAD:main");
    const json = { rules: [{ pattern: "refs/heads/main", allowedTokens: [] }] };
    await askApi(server, `/repos/${owner}/kept/protected-refs`, { method: "PUT", json, ...OPERATOR });
    await signIn(await makeToken({ right: "write" }), `/${owner}/kept/new/main`);
    expect(await page.locator("#target-branch").count()).toBe(0);
    await page.getByRole("textbox", { name: "Path" }).fill("file");
    await fill("Name of the new branch", "aside");
    await fill("Your email", "ada@example.com");
    expect(await send("Commit")).toBe(303);
    expect(await git(dir, "ls-remote", gitUrl(ADMIN_TOKEN, "kept"), "aside")).toContain("refs/heads/aside");
  });

  test("a token is shown once, works as it says, and no longer when it is revoked", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "tokens"), "HEAD:main");
    await signIn(ADMIN_TOKEN, `/${owner}/tokens/settings/tokens`);
    await fill("What it is for", "ci <b>");
    await fill("Last day", "2020-01-01");
    await page.getByLabel("What it may do").selectOption("write");
    await fill("Only these refs", "refs/heads/ci/**");
    expect(await send("Make a token")).toBe(422);
    expect(await page.locator("#expires-fault").innerText()).toContain("in the past");
    expect(await page.getByLabel("Only these refs").inputValue()).toBe("refs/heads/ci/**");
    await fill("Last day", "");
    expect(await send("Make a token")).toBe(201);
    const token = await page.getByLabel("Token", { exact: true }).inputValue();
    expect((await tryGit(dir, ["push", "-q", gitUrl(token, "tokens"), "HEAD:refs/heads/ci/one"])).code).toBe(0);
    expect((await tryGit(dir, ["push", "-q", gitUrl(token, "tokens"), "HEAD:refs/heads/elsewhere"])).stderr).toContain(
      "protected",
    );
    await page.goto(`${server.url}/${owner}/tokens/settings/tokens`);
    expect(await page.content()).not.toContain(token);
    expect(await send("Revoke ci <b>")).toBe(303);
    expect((await tryGit(dir, ["ls-remote", gitUrl(token, "tokens")])).code).not.toBe(0);
  });

  test("an owner's tokens are made by the owner's admin, and by nobody else", { tags: "sweep" }, async () => {
    await signIn(await makeToken({ right: "admin" }), `/${owner}`);
    await page.getByRole("link", { name: "Tokens", exact: true }).click();
    await page.waitForURL(`**/-/tokens/${owner}`);
    await fill("What it is for", "everything");
    expect(await send("Make a token")).toBe(201);
    const token = await page.getByLabel("Token", { exact: true }).inputValue();
    expect((await tryGit(dir, ["ls-remote", gitUrl(token, "repo")])).code).toBe(0);
    await page.context().clearCookies();
    await signIn(await makeToken({ right: "write" }), `/${owner}`);
    expect(await page.getByRole("link", { name: "Tokens", exact: true }).count()).toBe(0);
    expect((await page.goto(`${server.url}/-/tokens/${owner}`))!.status()).toBe(403);
  });

  test("the push log says who; the quota is the operator's", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "quota"), "HEAD:main");
    await signIn(await makeToken({ right: "admin" }), `/${owner}/quota/settings/pushes`);
    expect(await page.getByRole("table").innerText()).toContain("operator");
    expect(await page.getByRole("button", { name: "Set the quota" }).count()).toBe(0);
    await page.context().clearCookies();
    await signIn(ADMIN_TOKEN, `/${owner}/quota/settings/pushes`);
    await fill("Bytes at most", "many");
    expect(await send("Set the quota")).toBe(422);
    await fill("Bytes at most", "1000000");
    expect(await send("Set the quota")).toBe(303);
    const { body } = await askApi(server, `/repos/${owner}/quota/quota`, OPERATOR);
    expect(body).toMatchObject({ maxBytes: 1_000_000, maxObjects: null });
  });

  test("maintenance runs, and a check says what it checked", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "stored"), "HEAD:main");
    await signIn(ADMIN_TOKEN, `/${owner}/stored/settings/maintenance`);
    expect(await send("Run maintenance now")).toBe(303);
    expect(await page.locator("main").innerText()).toMatch(/repack ran/);
    expect(await send("Check from the beginning")).toBe(200);
    expect(await page.getByRole("status").innerText()).toMatch(/Checked to the end: 2 objects.*No problem was found/);
  });

  test("branches whose files are kept are chosen", { tags: "sweep" }, async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "files"), "HEAD:main");
    await signIn(ADMIN_TOKEN, `/${owner}/files/settings/worktrees`);
    await page.getByLabel("These branches").check();
    await fill("Branches", "main\n no..branch");
    expect(await send("Save")).toBe(422);
    await fill("Branches", "main\nother");
    expect(await send("Save")).toBe(303);
    const { body } = await askApi(server, `/repos/${owner}/files/worktrees`, OPERATOR);
    expect(body).toMatchObject({ branches: ["main", "other"] });
  });

  test("a repository is deleted only when its name was written", async () => {
    await git(dir, "push", "-q", gitUrl(ADMIN_TOKEN, "doomed"), "HEAD:main");
    await signIn(ADMIN_TOKEN, `/${owner}/doomed/settings/delete`);
    await fill(`To delete it, write ${owner}/doomed`, "doomed");
    expect(await send("Delete the repository")).toBe(422);
    expect((await askApi(server, `/repos/${owner}/doomed`, OPERATOR)).status).toBe(200);
    await fill(`To delete it, write ${owner}/doomed`, `${owner}/doomed`);
    expect(await send("Delete the repository")).toBe(303);
    expect((await askApi(server, `/repos/${owner}/doomed`, OPERATOR)).status).toBe(404);
  });
});
