/** What the pages of history answer besides pages: patches and feeds; and what forms change. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git, tryGit } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { makeHistoryRepository } from "./history-pages.ts";

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let dir: string;
let at: string;

beforeAll(async () => {
  [browser, server, dir] = await Promise.all([shareBrowser(), shareServer("told"), makeHistoryRepository()]);
  at = `${server.url}/told/history`;
  await git(dir, "push", "-q", at, "--all");
  await git(dir, "push", "-q", at, "--tags");
});

afterAll(() => browser.close());

test.each(["v1.0", "changes", "side", "hostile"])("the patch of %s is git's to the byte", async (rev) => {
  const oid = await git(dir, "rev-parse", `${rev}^{commit}`);
  const response = await fetch(`${at}/commit/${oid}.patch`);
  expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  expect(response.headers.get("Content-Security-Policy")).toContain("sandbox");
  const own = Buffer.from(await response.arrayBuffer());
  const options = ["--stdout", "-1", "-p", "--full-index", "--binary", "--no-signature", "--root", oid];
  const { stdoutBytes } = await tryGit(dir, ["format-patch", ...options]);
  // A binary file may be compressed otherwise, and git may write it as a delta: `git am` takes
  // both.
  const comparable = (patch: Buffer) =>
    patch.toString("latin1").replace(/(?<=GIT binary patch\n)[^]*?(?=\ndiff |\n*$)/g, "");
  expect(comparable(own)).toBe(comparable(stdoutBytes));
  const tag = { headers: { "If-None-Match": response.headers.get("ETag")! } };
  expect((await fetch(`${at}/commit/${oid}.patch`, tag)).status).toBe(304);
});

test("git am takes a patch", async () => {
  const oid = await git(dir, "rev-parse", "changes");
  const patch = Buffer.from(await (await fetch(`${at}/commit/${oid}.patch`)).arrayBuffer());
  await git(dir, "checkout", "-q", "--detach", "v1.0");
  const { code, stderr } = await tryGit(dir, ["am", "-q", "--keep-cr"], { stdin: patch });
  expect([code, stderr.replaceAll(/^warning:.*\n/gm, "")]).toEqual([0, expect.any(String)]);
  expect(await git(dir, "rev-parse", "HEAD^{tree}")).toBe(await git(dir, "rev-parse", "changes^{tree}"));
});

test("a diff is git's to the byte, of a merge that of its first parent", async () => {
  const oid = await git(dir, "rev-parse", "main");
  const own = await (await fetch(`${at}/commit/${oid}.diff`)).text();
  const { stdout } = await tryGit(dir, ["diff", "-M", "--full-index", "main^1", "main"]);
  expect(own).toBe(stdout);
});

/** Sends a form, as a browser does. */
const send = (path: string, fields: Record<string, string>, headers = {}) =>
  fetch(at + path, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
    headers: { "Sec-Fetch-Site": "same-origin", ...headers },
  });

test("what is compared is merged, if it is still what was seen", async () => {
  await git(dir, "checkout", "-q", "-B", "theirs", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "theirs");
  await git(dir, "checkout", "-q", "-B", "ours", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "ours");
  await git(dir, "push", "-q", at, "ours", "theirs");
  const [base, head] = [await git(dir, "rev-parse", "ours"), await git(dir, "rev-parse", "theirs")];
  const fields = { base, head, message: "Both\r\n\r\nof them", name: "Eve", email: "eve@example.com" };
  const stale = await send("/compare/ours...theirs", { ...fields, head: base });
  expect(stale.status).toBe(409);
  expect(await stale.text()).toContain("look at the changes again");
  expect((await send("/compare/ours...theirs", fields, { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  const done = await send("/compare/ours...theirs", fields);
  expect([done.status, done.headers.get("Location")]).toEqual([303, "/told/history/commits/ours"]);
  await git(dir, "fetch", "-q", at, "ours");
  expect(await git(dir, "log", "-1", "--format=%P|%an <%ae>|%B", "FETCH_HEAD")).toBe(
    `${base} ${head}|Eve <eve@example.com>|Both\n\nof them\n`,
  );
});

test("a merge with conflicts says where, and keeps what was typed", async () => {
  for (const name of ["left", "right"]) {
    await git(dir, "checkout", "-q", "-B", name, "main");
    writeFileSync(join(dir, "side.txt"), `${name}\n`);
    await git(dir, "commit", "-q", "-a", "-m", name);
  }
  await git(dir, "push", "-q", at, "left", "right");
  const [base, head] = [await git(dir, "rev-parse", "left"), await git(dir, "rev-parse", "right")];
  const fields = { base, head, message: "My <words>", name: "Eve", email: "eve@example.com" };
  const refused = await send("/compare/left...right", fields);
  const text = await refused.text();
  expect(refused.status).toBe(409);
  expect(text).toMatch(/<bdi>side\.txt<\/bdi>: content/);
  expect(text).toContain("My &lt;words&gt;");
});

test("a merge waits for the checks that a branch requires", async () => {
  await git(dir, "checkout", "-q", "-B", "checked", "main");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "checked");
  await git(dir, "push", "-q", at, "checked", "main:refs/heads/kept");
  const rules = [{ pattern: "refs/heads/kept", requiredContexts: ["ci/<tests>"] }];
  await askApi(server, "/repos/told/history/protected-refs", { method: "PUT", json: { rules } });
  const [base, head] = [await git(dir, "rev-parse", "main"), await git(dir, "rev-parse", "checked")];
  const merge = () =>
    send("/compare/kept...checked", { base, head, message: "", name: "Eve", email: "eve@example.com" });
  const refused = await merge();
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain(`have not succeeded: ci/&lt;tests&gt; (not set) for ${head.slice(0, 12)}`);
  const json = { state: "success", context: "ci/<tests>" };
  await askApi(server, "/repos/told/history/commits/checked/statuses", { method: "POST", json });
  expect((await merge()).status).toBe(303);
  await askApi(server, "/repos/told/history/protected-refs", { method: "PUT", json: { rules: [] } });
});

test("branches are created and deleted, tags deleted", async () => {
  const made = await send("/branches", { name: "new/\u05e9", from: "v1.0" });
  expect([made.status, made.headers.get("Location")]).toEqual([303, "/told/history/tree/new/%D7%A9"]);
  const list = () => git(dir, "ls-remote", at);
  const oid = await git(dir, "rev-parse", "v1.0^{commit}");
  expect(await list()).toContain(`${oid}\trefs/heads/new/\u05e9`);
  for (const [name, reason] of [
    ["new/\u05e9", "conflicts"],
    ["a..b", "not a valid ref name"],
    ["x", "was not found"],
  ]) {
    const refused = await send("/branches", { name: name!, from: name === "x" ? "nothing" : "main" });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(await refused.text()).toContain(reason);
  }
  const name = "new/%D7%A9";
  expect((await send("/branches/delete", { name, expected: "1".repeat(40) })).status).toBe(409);
  expect((await send("/branches/delete", { name, expected: oid })).status).toBe(303);
  expect(await list()).not.toContain("new/");
  const main = await git(dir, "rev-parse", "main");
  expect((await send("/branches/delete", { name: "main", expected: main })).status).toBe(409);
  const tag = await git(dir, "rev-parse", "changes");
  expect((await send("/tags/delete", { name: "changes", expected: tag })).status).toBe(303);
  expect(await list()).not.toContain("refs/tags/changes");
});

test("feeds are well-formed, whatever is in the history", async () => {
  for (const path of ["commits/hostile.atom", "commits/main.atom", "tags.atom", "commits/main/src.atom"]) {
    const response = await fetch(`${at}/feed/${path}`);
    expect([path, response.status, response.headers.get("Content-Type")]).toEqual([
      path,
      200,
      "application/atom+xml; charset=utf-8",
    ]);
    const text = await response.text();
    const page = await browser.newPage();
    const [error, titles, links] = await page.evaluate<[string | null, string[], string[]]>(
      `(() => {
        const feed = new DOMParser().parseFromString(${JSON.stringify(text)}, "application/xml");
        const all = (path, read) => [...feed.querySelectorAll(path)].map(read);
        const broken = feed.querySelector("parsererror");
        return [broken && broken.textContent, all("entry > title", (at) => at.textContent), all("entry > link", (at) => at.getAttribute("href"))];
      })()`,
    );
    await page.close();
    expect([path, error]).toEqual([path, null]);
    if (path.includes("hostile"))
      expect(titles[0]).toBe('<script>document.title = "ran"</script> [U+202E] & "quotes" \u2407');
    for (const link of links) expect((await fetch(link, { headers: { Accept: "text/html" } })).status).toBe(200);
  }
  expect((await fetch(`${at}/feed/commits/nothing.atom`)).status).toBe(404);
});

test("an archive is git's, below a directory of its name", async () => {
  const own = Buffer.from(await (await fetch(`${at}/archive/main.tar`)).arrayBuffer());
  const listed = await tryGit(dir, ["archive", "--prefix=history-main/", "main"]);
  expect(own.equals(listed.stdoutBytes)).toBe(true);
  expect((await fetch(`${at}/archive/main.rar`)).status).toBe(404);
});

describe("large changes", () => {
  const FILES = 10_000;
  const LINES = 100_000;
  let oid: string;
  beforeAll(async () => {
    const text = (word: string) => Array.from({ length: LINES }, (_, i) => `${word} ${i}\n`).join("");
    const commit = (mark: number, word: string) => [
      `commit refs/heads/large\nmark :${mark}\ncommitter A <a@example.com> ${1_700_000_000 + mark} +0000\n`,
      `data 5\nlarge\n`,
      ...Array.from({ length: FILES }, (_, i) => `M 644 inline many/${i}\ndata <<E\n${word}\nE\n\n`),
      `M 644 inline long.txt\ndata <<E\n${text(word)}E\n\n`,
    ];
    await git(dir, "checkout", "-q", "--orphan", "elsewhere");
    const stdin = [...commit(1, "old"), ...commit(2, "new")].join("");
    const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin });
    expect([code, stderr]).toEqual([0, ""]);
    await git(dir, "push", "-q", at, "large");
    oid = await git(dir, "rev-parse", "large");
  });

  const show = async (query: string) => {
    const response = await fetch(`${at}/commit/${oid}${query}`);
    expect(response.status).toBe(200);
    return response.text();
  };

  test("of thousands of files, a page shows some and leads to the others", { tags: "sweep" }, async () => {
    const seen = new Set<string>();
    let count = 0;
    for (let query: string | undefined = ""; query !== undefined && count < 3; count++) {
      const text: string = await show(query);
      expect(text.length).toBeLessThan(4_000_000);
      expect(text).toContain(`of ${(FILES + 1).toLocaleString("en")} changed files`);
      for (const [, id] of text.matchAll(/<details class="box change" id="F(\d+)"/g)) seen.add(id!);
      query = /<a class="button" rel="next" href="[^"?]*([^"]*)"/.exec(text)?.[1];
    }
    expect([...seen]).toEqual(Array.from({ length: seen.size }, (_, i) => `${i}`));
    expect(seen.size).toBeGreaterThan(200);
    expect(await show(`?start=${FILES}`)).not.toContain(`rel="next"`);
  });

  test("a long file is shown in parts, with all its lines", { tags: "sweep" }, async () => {
    const first = await show("");
    expect(first).toMatch(/Too many changes to be shown here|first 1000 lines/);
    const alone = /<a href="[^"?]*(\?[^"]*file=0)"/.exec(first)![1]!.replaceAll("&amp;", "&");
    // The first parts by their links, then one in the middle and the last.
    const lines = { L: [] as number[], R: [] as number[] };
    const queries = [alone, null, null, `${alone}&line=99000`, `${alone}&line=198000`];
    let next = "";
    for (const query of queries) {
      const text = await show(query ?? next);
      expect(text.length).toBeLessThan(4_000_000);
      for (const [, side, line] of text.matchAll(/<a id="F0([LR])(\d+)"/g)) lines[side as "L" | "R"].push(Number(line));
      next = /<a href="[^"?]*(\?[^"]*line=\d+)">The next/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    }
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    // Four lines of the patch precede the hunk, whose head is the fifth; all old lines come first.
    expect(lines.L).toEqual([...range(1, 14_996), ...range(98_996, LINES + 1)]);
    expect(lines.R).toEqual([...range(1, 3_996), ...range(97_996, LINES + 1)]);
    expect(next).toBe("");
  });
});
