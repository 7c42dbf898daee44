/** What Git LFS keeps, in a browser that runs no scripts: files as what they are, and locks. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { LfsClient, objectOf, pointerOf } from "../../harness/lfs.ts";
import { shareServer } from "../../harness/shared-server.ts";

/** A black picture. @see https://www.w3.org/TR/png-3/ */
function encodePng(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits of grey.
  header[8] = 8;
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  const start = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([start, chunk("IHDR", header), chunk("IDAT", rows), chunk("IEND", Buffer.alloc(0))]);
}

const picture = objectOf(encodePng(7, 5));
const film = objectOf(randomBytes(3 * 1024 * 1024));
const missing = objectOf("missing");

let browser: SharedBrowser;
let page: Page;
let url: string;
let lfs: LfsClient;

beforeAll(async () => {
  const [started, server] = await Promise.all([shareBrowser(), shareServer("lfspages")]);
  browser = started;
  url = `${server.url}/lfspages/repo`;
  lfs = new LfsClient(`${url}.git`);
  const dir = await makeRepository("lfspages");
  const files = { "picture.png": picture, "film.mp4": film, "missing.png": missing };
  for (const [path, object] of Object.entries(files)) writeFileSync(join(dir, path), pointerOf(object));
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", "pointers");
  await lfs.upload([picture, film]);
  await git(dir, "push", "-q", "-o", "lfs=allow-missing", url, "HEAD:main");
  page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
});
afterAll(() => browser.close());

test(
  "an image is shown, another file is offered, and a pointer is there for who wants it",
  { tags: "sweep" },
  async () => {
    await page.goto(`${url}/blob/main/picture.png`);
    const image = page.getByAltText("The file, as an image");
    expect(await image.evaluate((shown) => `${shown.naturalWidth} × ${shown.naturalHeight}`)).toBe("7 × 5");
    expect(await page.content()).toContain("Git LFS");

    await page.goto(`${url}/blob/main/film.mp4`);
    await page.getByText("3.0 MiB · Git LFS").waitFor();
    await page.getByText(film.oid).waitFor();
    const href = await page.getByRole("link", { name: "Download it" }).getAttribute("href");
    const bytes = Buffer.from(await (await fetch(new URL(href!, url))).arrayBuffer());
    expect(bytes.equals(film.bytes)).toBe(true);
    await page.getByRole("link", { name: "Pointer", exact: true }).click();
    await page.getByText(`oid sha256:${film.oid}`).waitFor();
    await page.getByRole("link", { name: "Content", exact: true }).click();
    await page.getByRole("link", { name: "Download it" }).waitFor();
  },
);

test("a file whose object is missing says so", async () => {
  await page.goto(`${url}/blob/main/missing.png`);
  await page.getByText("Nobody has sent it yet").waitFor();
  expect((await fetch(`${url}/raw/main/missing.png?lfs=true`)).status).toBe(404);
  expect(await (await fetch(`${url}/raw/main/missing.png`)).text()).toBe(pointerOf(missing));
});

test("locks are listed in the settings, and undone there", async () => {
  for (const path of ["picture.png", "a<b>.bin"]) await lfs.ask("POST", "locks", "lock", { path });
  await page.goto(`${url}/settings`);
  await page.getByRole("link", { name: "Git LFS" }).click();
  await page.getByText("2 objects here").waitFor();
  expect(await page.getByRole("row").count()).toBe(3);
  await page.getByRole("button", { name: "Unlock picture.png" }).click();
  await page.waitForLoadState();
  await page.getByRole("cell", { name: "a<b>.bin", exact: true }).waitFor();
  expect((await lfs.ask("GET", "locks", "list")).body.locks.map(({ path }) => path)).toEqual(["a<b>.bin"]);
  await page.getByRole("button", { name: "Unlock a<b>.bin" }).click();
  await page.getByText("No file is locked.").waitFor();
});
