/** Links of pages lead to the branch or tag that they name, whatever else has its short name. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { git, makeRepository } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

let server: Pick<Server, "url">;
let at: string;
let dir: string;

/** Refs whose short names mean something else in a URL, or do with some path behind them. */
const REFS: readonly string[] = [
  "refs/heads/same",
  "refs/tags/same",
  "refs/heads/rel",
  "refs/tags/rel/1",
  "refs/tags/up",
  "refs/heads/up/1",
  "refs/heads/HEAD",
  "refs/tags/HEAD",
  `refs/heads/${"ab".repeat(20)}`,
  "refs/tags/heads/same",
  "refs/heads/heads/same",
  "refs/heads/refs/heads/main",
  "refs/heads/refs/tags/same",
  "refs/tags/refs/heads/main",
  "refs/heads/@",
  "refs/tags/@",
  "refs/heads/plain",
  "refs/tags/v1.0",
];

/** Its own id names another commit. */
let idBranch: string;

beforeAll(async () => {
  server = await shareServer("links");
  at = `${server.url}/links/refs`;
  dir = await makeRepository("links");
  await commitFiles("main");
  await git(dir, "push", "-q", at, "main");
  idBranch = `refs/heads/${await git(dir, "rev-parse", "main")}`;
  for (const ref of [...REFS, idBranch]) {
    await git(dir, "checkout", "-q", "--detach", "main");
    await commitFiles(ref);
    await git(dir, "push", "-q", at, `HEAD:${ref}`);
  }
});

/** What the files of a ref say. */
const nameIn = (ref: string): string => (ref === "refs/heads/main" ? "main" : ref);

/** Commits files that say of which ref they are, at paths that go on where other refs' names do. */
async function commitFiles(ref: string): Promise<void> {
  for (const path of ["name", "1/name", "README.md"]) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), `of ${ref} [r](1/name)\n`);
  }
  await git(dir, "add", ".");
  await git(dir, "commit", "-q", "-m", `commit of ${ref}`);
}

async function read(path: string): Promise<Response> {
  const response = await fetch(new URL(path, server.url), { headers: { Accept: "text/html" } });
  expect([path, response.status]).toEqual([path, 200]);
  return response;
}

const hrefsIn = (html: string): string[] =>
  [...html.matchAll(/(?:href|action)="([^"#]+)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));

/** The links of a page's main part below one page of the repository. */
async function linksOf(path: string, page: string): Promise<string[]> {
  const html = await (await read(path)).text();
  const main = html.slice(html.indexOf("<main"));
  return [...new Set(hrefsIn(main))].filter((href) => href.startsWith(`/links/refs/${page}/`));
}

/** The ref whose file is at a path of a page of raw bytes. */
async function refAt(rawPath: string): Promise<string> {
  return (await (await read(rawPath)).text()).split(" ")[1]!;
}

test("each branch and tag of a list, of a feed and of a chooser leads to its own files, and on", async () => {
  const feed = await (await read("/links/refs/feed/tags.atom")).text();
  const fromFeed = [...feed.matchAll(/rel="alternate"[^>]*href="[^"]*(\/links\/refs\/tree\/[^"]*)"/g)].map(
    ([, to]) => to!,
  );
  const lists: [kind: string, links: string[]][] = [
    ["refs/heads/", await linksOf("/links/refs/branches", "tree")],
    ["refs/tags/", await linksOf("/links/refs/tags", "tree")],
    ["refs/tags/", fromFeed],
  ];
  const all = [...REFS, idBranch, "refs/heads/main"];
  for (const [kind, links] of lists) {
    const found = await Promise.all(links.map((link) => refAt(`${link.replace("/tree/", "/raw/")}/name`)));
    const deeper = await Promise.all(links.map((link) => refAt(`${link.replace("/tree/", "/raw/")}/1/name`)));
    const expected = all.filter((ref) => ref.startsWith(kind)).map(nameIn);
    expect([kind, found.toSorted()]).toEqual([kind, expected.toSorted()]);
    expect(deeper).toEqual(found);
  }
  const chosen = (await linksOf("/links/refs/tree/main", "tree")).filter((link) => link !== "/links/refs/tree/main/1");
  const names = new Set(await Promise.all(chosen.map((link) => refAt(`${link.replace("/tree/", "/raw/")}/name`))));
  for (const ref of all) expect(names).toContain(nameIn(ref));
  // What means only one thing keeps its short name.
  expect(lists[0]![1]).toContain("/links/refs/tree/plain");
  expect(lists[0]![1]).toContain("/links/refs/tree/same");
  expect(lists[1]![1]).toContain("/links/refs/tree/v1.0");
});

test("whatever a page links to, it stays in its ref", async () => {
  for (const ref of [...REFS, idBranch]) {
    const pages = await Promise.all([
      linksOf(`/links/refs/tree/${ref}`, "blob"),
      linksOf(`/links/refs/tree/${ref}/1`, "blob"),
      linksOf(`/links/refs/blob/${ref}/1/name`, "raw"),
      linksOf(`/links/refs/blame/${ref}/1/name`, "raw"),
      linksOf(`/links/refs/find/${ref}?q=name`, "blob"),
    ]);
    for (const links of pages) {
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) {
        // A link to a commit's own id is there, too.
        expect([ref, link, await refAt(link.replace("/blob/", "/raw/"))]).toEqual([ref, link, ref]);
      }
    }
  }
  expect(await linksOf("/links/refs/tree/up", "tree")).toContain("/links/refs/tree/refs/tags/up/1");
});

test("a branch's commits, feed, comparison and forms are its own", async () => {
  const branches = [...REFS, idBranch].filter((ref) => ref.startsWith("refs/heads/"));
  const subjects = async (links: string[]) =>
    Promise.all(links.map(async (link) => /commit of ([^<\s]+)/.exec(await (await read(link)).text())![1]!));
  const page = "/links/refs/branches";
  const expected = [...branches, "main"].toSorted();
  expect((await subjects(await linksOf(page, "commits"))).toSorted()).toEqual(expected);
  expect((await subjects(await linksOf(page, "feed"))).toSorted()).toEqual(expected);
  expect((await subjects(await linksOf(page, "compare"))).toSorted()).toEqual(branches.toSorted());
  for (const ref of branches) {
    const [edit] = await linksOf(`/links/refs/blob/${ref}/1/name`, "edit");
    const html = await (await read(edit!)).text();
    expect(html).toContain(`of ${ref} [r]`);
    const [action] = hrefsIn(html).filter((href) => href.startsWith("/links/refs/edit/"));
    expect(await (await read(action!)).text()).toContain(`of ${ref} [r]`);
  }
});

test("an archive of a tag is the tag's, and says what its name could also mean", async () => {
  const links = (await linksOf("/links/refs/tags", "archive")).filter((link) => link.endsWith(".tar.gz"));
  const found = await Promise.all(
    links.map(async (link) => {
      const response = await read(link);
      expect([link, response.headers.get("Holdfast-Ambiguous")]).toEqual([link, null]);
      const tar = gunzipSync(await response.arrayBuffer()).toString();
      return /of (\S+) \[r\]/.exec(tar)![1]!;
    }),
  );
  expect(found.toSorted()).toEqual(REFS.filter((ref) => ref.startsWith("refs/tags/")).toSorted());
  for (const path of ["archive/same.zip", "raw/same/name", "feed/commits/same.atom", "tree/same"]) {
    const response = await read(`/links/refs/${path}`);
    await response.arrayBuffer();
    expect(response.headers.get("Holdfast-Ambiguous")).toBe("refs/heads/same, refs/tags/same");
  }
});
