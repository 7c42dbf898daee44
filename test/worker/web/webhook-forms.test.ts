/** Webhooks in a browser that runs no scripts: made, tried out, disabled, sent again to,
 * deleted. */
import type { Page } from "playwright-core";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { Receiver } from "../../harness/receiver.ts";
import { shareServer } from "../../harness/shared-server.ts";

let browser: SharedBrowser;
let server: Awaited<ReturnType<typeof shareServer>>;
let receiver: Receiver;
let page: Page;

beforeAll(async () => {
  [browser, server, receiver] = await Promise.all([
    shareBrowser(),
    shareServer("hooked", { ALLOW_PRIVATE_HOSTS: "on" }),
    Receiver.open(),
  ]);
  const dir = await makeRepository("hooked");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "first");
  await git(dir, "push", "-q", `${server.url}/hooked/repo`, "HEAD:main");
  page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
});
afterAll(async () => {
  receiver.close();
  await browser.close();
});

test("a webhook is made, tried out, disabled and deleted", { tags: "sweep" }, async () => {
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.goto(`${server.url}/hooked/repo/settings`);
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByLabel("Address").fill("http://user@127.0.0.1/");
  await press("Make the webhook");
  expect(await page.getByRole("alert").textContent()).toContain("names a user");
  expect(await page.getByLabel("Address").inputValue()).toBe("http://user@127.0.0.1/");
  await page.getByLabel("Address").fill(receiver.url);
  await press("Make the webhook");
  const secret = await page.locator("#made").inputValue();
  await press("Ping");
  const [ping] = await receiver.count(1);
  expect(new Verifier(secret).verify(ping!.body, { ...ping!.headers })).toMatchObject({ type: "ping" });
  const deliveries = page.getByRole("list", { name: "Deliveries" });
  expect(await deliveries.textContent()).toMatch(/ping delivered .*webhook-signature: v1,/s);
  expect(await page.content()).not.toContain(secret);
  await deliveries.locator("summary").click();
  await deliveries.getByRole("button").click();
  expect((await receiver.count(2))[1]!.body).toBe(ping!.body);
  await press("Disable");
  await page.getByText("it was disabled").waitFor();
  await press("Enable");
  await press("New secret");
  expect(await page.locator("#made").inputValue()).not.toBe(secret);
  await press("Delete");
  await page.getByText("There are none.").waitFor();
});
