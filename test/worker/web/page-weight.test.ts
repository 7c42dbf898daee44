/** What a page costs those who look at it: its bytes, and the second look. */
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { ICON, SCRIPT, STYLE } from "../../../src/worker/web/assets/assets.ts";
import { git } from "../../harness/git.ts";
import { makeOddRepository } from "../../harness/odd-tree.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { testSome } from "../../harness/sweep.ts";

const KB = 1_024;
let server: Pick<Server, "url">;
let head: string;

beforeAll(async () => {
  server = await shareServer("weight");
  const lines = Array.from({ length: 1_000 }, (_, i) => `  const value${i} = compute(${i}, "text ${i}"); // why ${i}`);
  const readme = Array.from({ length: 300 }, (_, i) => `## Part ${i}\n\nSome *text* with [a link](file${i}.md).\n`);
  const files: Record<string, string> = { "README.md": readme.join("\n"), "code.ts": `${lines.join("\n")}\n` };
  for (let i = 0; i < 100; i++) files[`file-${i}.txt`] = `${i}\n`;
  for (let i = 0; i < 5_000; i++) files[`many/file-${i}.txt`] = `${i}\n`;
  const dir = await makeOddRepository([
    { branch: "main", files },
    ...Array.from({ length: 100 }, (_, i) => ({ branch: "main", files: { [`file-${i}.txt`]: `${i} again\n` } })),
  ]);
  head = await git(dir, "rev-parse", "main");
  await git(dir, "push", "-q", `${server.url}/weight/repo`, "main");
});

const look = (path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers: { Accept: "text/html", ...headers } });

/** Bytes of a page, compressed. */
async function weigh(path: string): Promise<number> {
  const response = await look(path);
  expect(response.status).toBe(200);
  return gzipSync(await response.text()).length;
}

test("script, style and icon are small", () => {
  expect(gzipSync(SCRIPT.text).length).toBeLessThanOrEqual(8 * KB);
  expect(gzipSync(STYLE.text).length).toBeLessThanOrEqual(12 * KB);
  expect(ICON.text.length).toBeLessThanOrEqual(KB);
});

const PAGES: readonly (readonly [string, path: string, kilobytes: number])[] = [
  ["a file of 1,000 lines", "/weight/repo/blob/main/code.ts", 40],
  ["a repository of a hundred files, with a long README", "/weight/repo", 60],
  ["a directory of 5,000 files", "/weight/repo/tree/main/many", 100],
  ["the blame of 1,000 lines", "/weight/repo/blame/main/code.ts", 40],
];

testSome(1, PAGES, "%s: %s", async ([, path, limit]) => {
  expect(await weigh(path)).toBeLessThanOrEqual(limit * KB);
});

test("a page by a whole commit id is sent once", { tags: "sweep" }, async () => {
  const tags = new Set<string>();
  for (const path of [`/weight/repo/tree/${head}/many`, `/weight/repo/blob/${head}/code.ts`]) {
    const first = await look(path);
    const etag = first.headers.get("ETag")!;
    await first.text();
    expect([first.status, etag]).toEqual([200, expect.stringContaining(head)]);
    const second = await look(path, { "If-None-Match": etag });
    expect([second.status, await second.text()]).toEqual([304, ""]);
    expect(second.headers.get("Content-Security-Policy")).toBe(first.headers.get("Content-Security-Policy"));
    tags.add(etag);
  }
  expect(tags.size).toBe(2);
  // What a name leads to may change, and so may blame find more the next time.
  for (const path of ["/weight/repo/tree/main", `/weight/repo/blame/${head}/code.ts`])
    expect((await look(path)).headers.get("ETag")).toBeNull();
});

test("search engines are told which address stands for a page, and which to leave out", async () => {
  const file = await look("/weight/repo/blob/main/README.md?plain=1");
  expect(await file.text()).toContain(`<link rel="canonical" href="${server.url}/weight/repo/blob/main/README.md"`);
  expect(file.headers.get("X-Robots-Tag")).toBeNull();
  for (const path of ["/weight/repo/blame/main/code.ts", "/weight/repo/raw/main/code.ts"]) {
    const left = await look(path);
    expect([left.headers.get("X-Robots-Tag"), (await left.text()).includes("canonical")]).toEqual([
      "noindex, nofollow",
      false,
    ]);
  }
  const missing = await look("/weight/nothing");
  expect(await missing.text()).not.toContain("canonical");
  const icon = await fetch(server.url + ICON.url);
  expect([icon.status, icon.headers.get("Content-Type")]).toEqual([200, "image/svg+xml"]);
});
