/** Every link of a repository of hostile names is followed: all of our own lead somewhere, and no
 * name, message or content becomes markup. */
import type { Element, Root } from "hast";
import { fromParse5 } from "hast-util-from-parse5";
import { parse } from "parse5";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodePath } from "../../../src/base/format/path-parts.ts";
import { noteProblems, shareBrowser, type SharedBrowser } from "../../harness/browser.ts";
import { git } from "../../harness/git.ts";
import type { Server } from "../../harness/server.ts";
import { shareServer } from "../../harness/shared-server.ts";
import { BRANCHES, makeHostileRepository } from "./hostile-repository.ts";

/** Pages that are visited. More would be links without an end. */
const MAX_PAGES = 10_000;
const AT_ONCE = 8;
/** Of the links to other revisions than `main`, one of so many is followed. */
const OTHERS = 41;

/** Elements that only the frame of a page has, or none at all. */
const FRAME_ONLY = [
  "script",
  "link",
  "meta",
  "title",
  "style",
  "base",
  "iframe",
  "object",
  "embed",
  "math",
  "template",
];
/** How many of them each page has. */
const FRAME = ["link", "meta", "script", "title"];

let browser: SharedBrowser;
let server: Pick<Server, "url">;
let paths: readonly Buffer[];

beforeAll(async () => {
  [browser, server] = await Promise.all([shareBrowser(), shareServer("crawl")]);
  const made = await makeHostileRepository();
  paths = made.paths;
  await git(made.dir, "push", "-q", `${server.url}/crawl/repo`, "--all");
  await git(made.dir, "push", "-q", `${server.url}/crawl/repo`, "--tags");
});
afterAll(() => browser.close());

/** Follows the links from a repository's page on: all to pages about `main` and one other
 * branch. */
async function expectWhole(branch: string): Promise<void> {
  const { pathname: known } = new URL(`/${encodePath(branch)}`, server.url);
  /** Whether a link names the branch, and then a path, a query or nothing. */
  const isKnown = (link: string): boolean => {
    const named = `/${link.split("/").slice(4).join("/")}`;
    return named.startsWith(known) && /^(?:$|[/?.])/.test(named.slice(known.length));
  };
  const faults: string[] = [];
  const seen = new Set(["/crawl/repo"]);
  const pending = [...seen];
  const kinds = new Map<string, number>();
  let others = 0;
  const visit = async (path: string): Promise<void> => {
    const response = await fetch(server.url + path, { headers: { Accept: "text/html" } });
    const kind = path.split("/")[3] ?? "";
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const isHtml = response.headers.get("Content-Type")?.startsWith("text/html") === true;
    if (kind === "raw" && isHtml) faults.push(`${path}: raw content as HTML`);
    const text = await response.text();
    if (response.status !== 200) faults.push(`${path}: ${response.status}`);
    if (!response.headers.get("Content-Security-Policy")?.includes("default-src 'none'"))
      faults.push(`${path}: policy`);
    if (!isHtml) return;
    const tree = fromParse5(parse(text)) as Root;
    for (const fault of findFaults(tree)) faults.push(`${path}: ${fault}`);
    for (const link of linksOf(tree, server.url + path)) {
      // All revisions have the same files: of those of others, some are enough.
      const isOther = /^\/[^/]+\/[^/]+\/[a-z]+\/(?!main\b)/.test(link) && !isKnown(link);
      if (seen.has(link) || (isOther && ++others % OTHERS !== 0)) continue;
      seen.add(link);
      pending.push(link);
    }
  };
  while (pending.length > 0 && seen.size < MAX_PAGES) {
    await Promise.all(pending.splice(0, AT_ONCE).map(visit));
  }
  expect(faults).toEqual([]);
  expect(seen.size).toBeLessThan(MAX_PAGES);
  // All files were reached, by links alone.
  const blobs = new Set([...seen].map((path) => path.split("?")[0]));
  for (const path of paths) {
    const { pathname } = new URL(`/crawl/repo/blob/main/${encodePath(path.toString("latin1"))}`, server.url);
    expect(blobs).toContain(pathname);
    expect(blobs).toContain(pathname.replace("/main/", `${known}/`));
  }
  expect(kinds.get("tree")).toBeGreaterThan(30);
}

test("every link leads to a page, and no page has markup made of data", { tags: "sweep" }, () =>
  expectWhole(BRANCHES[0]!),
);

/** Shows pages in a browser. */
async function expectNoComplaints(urls: readonly string[]): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems = noteProblems(page);
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  for (const url of urls) {
    const response = await page.goto(server.url + url);
    expect([url, response!.status()]).toEqual([url, 200]);
    expect([url, problems.filter((problem) => !isMissingImage(problem))]).toEqual([url, []]);
  }
  await context.close();
}

/** The page, or the blame, of each file. */
const pagesOf = (files: readonly Buffer[]): string[] =>
  files.map((path) => {
    const page = path.length % 4 === 0 ? "blame" : "blob";
    return `/crawl/repo/${page}/main/${encodePath(path.toString("latin1"))}`;
  });

test("a browser finds nothing to complain of in some of the files", () => {
  const some = paths.filter((_, i) => i % 4 === 0);
  return expectNoComplaints(["/crawl", "/crawl/repo", "/crawl/repo/tree/main", ...pagesOf(some)]);
});
test("nor in any", { tags: "sweep" }, () => expectNoComplaints(pagesOf(paths)));
test("nor in the pages of other kinds", { tags: "sweep" }, () => {
  const branch = encodePath(BRANCHES[0]!);
  const file = encodePath(paths[0]!.toString("latin1"));
  const settings = [
    "protected",
    "tokens",
    "webhooks",
    "mirrors",
    "lfs",
    "pushes",
    "maintenance",
    "worktrees",
    "delete",
  ];
  const below = [
    "commit/main",
    "commit/main~1",
    "commit/main~2",
    "commit/main~2?view=split",
    `commits/${branch}`,
    `commits/main/${file}?follow=1`,
    "branches",
    "tags",
    "activity",
    "contributors",
    "fork",
    `compare/main~2...${branch}`,
    `search?q=script&rev=${branch}`,
    `search?q=${encodeURIComponent('"><b>')}`,
    `find/${branch}?q=script`,
    "settings",
    ...settings.map((page) => `settings/${page}`),
    `edit/${branch}/${file}`,
    `delete/${branch}/${file}`,
    `new/${branch}`,
    `upload/${branch}`,
  ];
  return expectNoComplaints(below.map((page) => `/crawl/repo/${page}`));
});

/** READMEs show images that the repository does not have; those further down are not waited for. */
function isMissingImage(problem: string): boolean {
  return problem.includes("status of 404") || problem.includes("net::ERR_ABORTED");
}

/** Whatever is in a page that no page of ours has. */
function findFaults(tree: Root): string[] {
  const faults: string[] = [];
  const frame: string[] = [];
  for (const { tagName, properties, children } of elementsOf(tree)) {
    if (FRAME_ONLY.includes(tagName)) frame.push(tagName);
    if (tagName === "script" && (children.length > 0 || !String(properties["src"]).startsWith("/-/assets/")))
      faults.push("a script");
    if (tagName === "meta" && "httpEquiv" in properties) faults.push("a meta element that acts");
    for (const [name, value] of Object.entries(properties)) {
      if (/^on/i.test(name) || name === "style" || name === "srcDoc")
        faults.push(`${tagName} ${name}=${String(value)}`);
      if (["href", "src", "action"].includes(name) && !/^(?:[/#?]|https?:|mailto:|data:[,i])/.test(String(value)))
        faults.push(`${tagName} ${name}=${String(value)}`);
    }
  }
  const unexpected = [...new Set(frame)].sort().join();
  if (unexpected !== FRAME.join() || frame.filter((name) => name === "script").length !== 1)
    faults.push(`frame of ${unexpected}`);
  return faults;
}

/** Addresses of this server that a page links to, loads or asks. Those of texts may lead
 * nowhere. */
function linksOf(tree: Root, base: string): string[] {
  const links: string[] = [];
  for (const { properties, isProse } of elementsOf(tree)) {
    for (const name of ["href", "src"]) {
      const value = properties[name];
      if (typeof value !== "string" || isProse || !URL.canParse(value, base)) continue;
      const url = new URL(value, base);
      const isOurs = url.origin === new URL(base).origin && url.pathname !== "/api/docs";
      if (isOurs && !url.pathname.startsWith("/-/assets/")) links.push(url.pathname + url.search);
    }
  }
  return links.filter((link) => link.startsWith("/crawl"));
}

function elementsOf(tree: Root): (Element & { isProse: boolean })[] {
  const found: (Element & { isProse: boolean })[] = [];
  const visit = (node: Root | Element, isProse: boolean): void => {
    for (const child of node.children) {
      if (child.type !== "element") continue;
      const classes = [child.properties["className"]].flat();
      const inProse = isProse || classes.includes("prose");
      found.push({ ...child, isProse: inProse });
      visit(child, inProse);
    }
  };
  visit(tree, false);
  return found;
}
