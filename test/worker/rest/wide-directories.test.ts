/** Directories of many entries come in pages: by the API with a cursor, on the web with links. */
import { beforeAll, expect, test } from "vitest";
import { askApi } from "../../harness/api.ts";
import { git } from "../../harness/git.ts";
import { makeOddRepository, type OddFile } from "../../harness/odd-tree.ts";
import { makeCommit, makeObject, makeTree, makeWideTree, packOf } from "../../harness/pack-builder.ts";
import { sendPush } from "../../harness/raw-push.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";

interface Entry {
  readonly name: string;
  readonly mode: string;
  readonly oid: string;
  readonly lastCommit?: string | null;
}

interface Page {
  readonly commit: string;
  readonly entries: Entry[];
  readonly nextCursor: string | null;
}

/** Bytes of an answer. */
const MOST_BYTES = 1024 * 1024;

let server: Pick<Server, "url">;
let dir: string;

/** A directory `wide` of 2,400 files and 30 directories between them, whose README is far behind;
 * later commits change a few of them. */
beforeAll(async () => {
  server = await shareServer("wide");
  const files: Record<string, OddFile> = { "wide/readme.md": "# The wide one\n", top: "" };
  for (let i = 0; i < 2_400; i++) files[`wide/f${String(i).padStart(5, "0")}`] = `${i % 5}\n`;
  for (let i = 0; i < 30; i++) files[`wide/f${String(i * 70).padStart(5, "0")}.d/x`] = "x\n";
  dir = await makeOddRepository([
    { branch: "main", files },
    { branch: "main", files: { "wide/f00003": "changed\n", "wide/f02399": "changed\n" } },
    { branch: "main", files: { "wide/f01500": "changed\n", "wide/f00070.d/x": "changed\n", "wide/z": "new\n" } },
    { branch: "moved", files: { "wide/f00000": null, "wide/f01000": null } },
  ]);
  await git(dir, "push", "-q", `${server.url}/wide/repo.git`, "main");
});

/** All pages of a list.
 * @param from the cursor of the first one to be read; "": of all */
async function readPages(path: string, query: string, from = ""): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = from; cursor !== null; cursor = pages.at(-1)!.nextCursor) {
    const answer = await askApi<Page>(server, `${path}?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(200);
    expect(JSON.stringify(answer.body).length).toBeLessThan(MOST_BYTES);
    pages.push(answer.body);
  }
  return pages;
}

const toLine = ({ mode, oid, name }: Entry): string => `${mode} ${oid} ${name}`;

async function lsTree(revision: string): Promise<string[]> {
  return (await git(dir, "ls-tree", "--format=%(objectmode) %(objectname) %(path)", revision)).split("\n");
}

test("pages of a directory have its entries once and in order, 1,000 or as many as asked for", async () => {
  const expected = await lsTree("main:wide");
  for (const [limit, sizes] of [
    ["", [1_000, 1_000, 432]],
    ["&limit=900", [900, 900, 632]],
  ] as const) {
    const pages = await readPages("/repos/wide/repo/files", `ref=main&path=wide${limit}`);
    expect(pages.map(({ entries }) => entries.length)).toEqual(sizes);
    expect(pages.flatMap(({ entries }) => entries.map(toLine))).toEqual(expected);
  }
  const [first, second] = await readPages("/repos/wide/repo/files", "ref=main&path=wide&limit=1000");
  expect([first!.commit, second!.commit]).toEqual(Array(2).fill(await git(dir, "rev-parse", "main")));
  const few = await askApi<Page>(server, "/repos/wide/repo/files?path=wide&limit=3");
  expect(few.body.entries.map(({ name }) => name)).toEqual(["f00000", "f00000.d", "f00001"]);
  for (const bad of ["limit=0", "limit=1001", "limit=x", "cursor=x"])
    expect((await askApi(server, `/repos/wide/repo/files?path=wide&${bad}`)).status).toBe(422);
});

test("pages of a tree by its id are git's list", async () => {
  const pages = await readPages(`/repos/wide/repo/git/tree/${await git(dir, "rev-parse", "main:wide")}`, "limit=800");
  expect(pages.map(({ entries }) => entries.length)).toEqual([800, 800, 800, 32]);
  expect(pages.flatMap(({ entries }) => entries.map(toLine))).toEqual(await lsTree("main:wide"));
});

test("a list without any parameter goes on by its cursor alone", async () => {
  const path = `/repos/wide/repo/git/tree/${await git(dir, "rev-parse", "main:wide")}`;
  const first = await askApi<Page>(server, path);
  const second = await askApi<Page>(server, `${path}?cursor=${first.body.nextCursor}`);
  expect([first, second].map(({ status }) => status)).toEqual([200, 200]);
});

test("each page has the last commits of its entries, and all pages show one commit", async () => {
  const url = "/repos/wide/repo/files?ref=main&path=wide&lastCommit=true";
  const first = await askApi<Page>(server, url);
  await git(dir, "push", "-q", `${server.url}/wide/repo.git`, "moved:main");
  const rest = await readPages("/repos/wide/repo/files", "path=wide&lastCommit=true", first.body.nextCursor!);
  const found = [first.body, ...rest].flatMap(({ entries }) => entries);
  const commits = (await git(dir, "rev-list", "--reverse", "main")).split("\n");
  const changed = new Map([
    ["f00003", commits[1]],
    ["f02399", commits[1]],
    ["f01500", commits[2]],
    ["f00070.d", commits[2]],
    ["z", commits[2]],
  ]);
  expect(found.map(toLine)).toEqual(await lsTree("main:wide"));
  expect(found.map(({ name, lastCommit }) => `${name} ${lastCommit}`)).toEqual(
    found.map(({ name }) => `${name} ${changed.get(name) ?? commits[0]}`),
  );
  await git(dir, "push", "-q", "-f", `${server.url}/wide/repo.git`, "main");
});

/** A page as a browser without scripts reads it. */
async function readPage(path: string): Promise<{ html: string; names: string[]; next: string | null }> {
  const response = await fetch(server.url + path, { headers: { Accept: "text/html" } });
  const html = await response.text();
  expect([path, response.status]).toEqual([path, 200]);
  expect(html.length).toBeLessThan(MOST_BYTES);
  const rows = html.matchAll(/<th scope="row"><a href="[^"]*">.*?<bdi>([^<]*)<\/bdi>/g);
  const next = /<a class="button" rel="next" href="([^"]*)"/.exec(html)?.[1] ?? null;
  return { html, names: Array.from(rows, ([, name]) => name!), next: next?.replaceAll("&amp;", "&") ?? null };
}

test("on the web a directory comes in pages that lead to each other, directories first", async () => {
  const names: string[] = [];
  let at: string | null = "/wide/repo/tree/main/wide";
  const says = ["Entries 1 to 1,000 of 2,432", "Entries 1,001 to 2,000 of 2,432", "Entries 2,001 to 2,432 of 2,432"];
  for (let page = 0; at !== null; page++) {
    const { html, next, ...read } = await readPage(at);
    expect(/Entries [\d,]+ to [\d,]+ of [\d,]+/.exec(html)?.[0]).toBe(says[page]);
    // The README is above none but the first.
    expect(html.includes("The wide one")).toBe(page === 0);
    expect(html.includes("First entries")).toBe(page > 0);
    names.push(...read.names);
    at = next;
  }
  const all = (await lsTree("main:wide")).map((line) => line.split(" "));
  const isDirectory = ([mode]: string[]): boolean => mode === "040000";
  const inOrder = [...all.filter(isDirectory), ...all.filter((one) => !isDirectory(one))];
  expect(names).toEqual(inOrder.map(([, , name]) => name));
  const wrong = await fetch(`${server.url}/wide/repo/tree/main/wide?after=x`, { headers: { Accept: "text/html" } });
  expect(wrong.status).toBe(422);
});

test("a page ends early where names are long, and a directory of any names is read to its end", async () => {
  const blob = makeObject("blob", "");
  const name = (i: number): string => `${String(i).padStart(4, "0")}${"<\u0001ä&".repeat(800)}`;
  const tree = makeTree(...Array.from({ length: 300 }, (_, i) => ["100644", name(i), blob] as const));
  const above = "d".repeat(3_000);
  const root = makeTree(["40000", above, tree], ["100644", "z".repeat(4_000), blob]);
  const tip = makeCommit(root);
  const commands = [{ name: "refs/heads/main", new: tip.oid }];
  const url = `${server.url}/wide/long.git`;
  expect((await sendPush(url, { commands, pack: packOf(blob, tree, root, tip) })).unpack).toBe("ok");
  const pages = await readPages("/repos/wide/long/files", `path=${above}`);
  expect(pages.flatMap(({ entries }) => entries.map((entry) => entry.name))).toEqual(
    Array.from({ length: 300 }, (_, i) => name(i)),
  );
  let count = 0;
  for (let at: string | null = `/wide/long/tree/main/${above}`; at !== null;) {
    const { names, next } = await readPage(at);
    expect(names.length).toBeGreaterThan(0);
    count += names.length;
    at = next;
  }
  expect(count).toBe(300);
});

test("a subject of 20,000 characters is cut beside each of the files that its commit changed", async () => {
  const blob = makeObject("blob", "");
  const tree = makeTree(...Array.from({ length: 900 }, (_, i) => ["100644", String(i + 1_000), blob] as const));
  const root = makeTree(["40000", "d", tree]);
  const tip = makeCommit(root, [], `${"word ".repeat(4_000)}\n`);
  const commands = [{ name: "refs/heads/main", new: tip.oid }];
  const url = `${server.url}/wide/subject.git`;
  expect((await sendPush(url, { commands, pack: packOf(blob, tree, root, tip) })).unpack).toBe("ok");
  const { html, names } = await readPage("/wide/subject/tree/main/d");
  expect([names.length, html.split(`>${"word ".repeat(40)}…</a>`).length]).toEqual([900, 901]);
});

test("a directory of 300,000 files is listed within a megabyte, by every page and route", async () => {
  const blob = makeObject("blob", "content\n");
  const readme = makeObject("blob", "# Many files\n");
  const entries = Array.from({ length: 300_000 }, (_, i) => ["100644", String(i).padStart(7, "0"), blob] as const);
  const tree = makeWideTree([...entries, ["100644", "README.md", readme]]);
  const root = makeTree(["40000", "d", tree]);
  const tip = makeCommit(root);
  const flat = makeCommit(tree, [tip.oid]);
  const commands = [
    { name: "refs/heads/main", new: flat.oid },
    { name: "refs/heads/d", new: tip.oid },
  ];
  const url = `${server.url}/wide/huge.git`;
  expect((await sendPush(url, { commands, pack: packOf(blob, readme, tree, root, tip, flat) })).unpack).toBe("ok");
  for (const path of ["/wide/huge", "/wide/huge/tree/main", "/wide/huge/tree/d/d", "/wide/huge/find/main?q=99"]) {
    const { html, names } = await readPage(path);
    if (path.includes("find")) continue;
    expect([path, names.length]).toEqual([path, 1_000]);
    for (const text of ["Many files", "Entries 1 to 1,000 of 300,001"]) expect(html.includes(text)).toBe(true);
  }
  const oid = tree.oid;
  for (const query of [
    "files?",
    "files?lastCommit=true&",
    "files?lfs=true&",
    "files?ref=d&path=d&",
    `git/tree/${oid}?`,
  ]) {
    const answer = await askApi<Page>(server, `/repos/wide/huge/${query}limit=1000`);
    expect([query, answer.status, answer.body.entries.length]).toEqual([query, 200, 1_000]);
    expect(JSON.stringify(answer.body).length).toBeLessThan(MOST_BYTES);
    expect(answer.body.nextCursor).not.toBeNull();
  }
});
