/** Every link of a repository of hostile names is followed: all of our own lead somewhere, and no name,
 * message or content becomes markup. */
import type { Element, Root } from "hast";
import { fromParse5 } from "hast-util-from-parse5";
import { parse } from "parse5";
import { afterAll, beforeAll, expect, test } from "vitest";
import { encodePath } from "../../src/format/path-parts.ts";
import { noteProblems, shareBrowser, type SharedBrowser } from "../harness/browser.ts";
import { git } from "../harness/git.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeHostileRepository } from "./hostile-repository.ts";

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

/** Follows the links from a repository's page on. All lead to directories and files; of those to
 * other pages about `main`, such as blames, one of so many is followed. */
async function expectWhole(oneOf: number): Promise<void> {
  const faults: string[] = [];
  const seen = new Set(["/crawl/repo"]);
  const pending = [...seen];
  const kinds = new Map<string, number>();
  let others = 0;
  let pages = 0;
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
      const isOther = /^\/[^/]+\/[^/]+\/[a-z]+\/(?!main\b)/.test(link);
      if (seen.has(link) || (isOther && ++others % OTHERS !== 0)) continue;
      const isPage = /^\/[^/]+\/[^/]+\/(?!tree|blob)/.test(link);
      if (!isOther && isPage && ++pages % oneOf !== 0) continue;
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
  }
  expect(kinds.get("tree")).toBeGreaterThan(30);
}

test("links lead to pages, and these have no markup made of data", () => expectWhole(4));
test("every link leads to a page, and no page has markup made of data", { tags: "sweep" }, () => expectWhole(1));

/** Shows each page of some files in a browser. */
async function expectNoComplaints(shown: readonly Buffer[]): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems = noteProblems(page);
  page.on("dialog", (dialog) => {
    problems.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  const urls = ["/crawl", "/crawl/repo", "/crawl/repo/tree/main"];
  for (const path of shown) {
    const encoded = encodePath(path.toString("latin1"));
    const page = path.length % 4 === 0 ? "blame" : "blob";
    urls.push(`/crawl/repo/${page}/main/${encoded}`);
  }
  for (const url of urls) {
    const response = await page.goto(server.url + url);
    expect([url, response!.status()]).toEqual([url, 200]);
    expect([url, problems.filter((problem) => !isMissingImage(problem))]).toEqual([url, []]);
  }
  await context.close();
}

test("a browser finds nothing to complain of in some of the files", () =>
  expectNoComplaints(paths.filter((_, i) => i % 4 === 0)));
test("nor in any", { tags: "sweep" }, () => expectNoComplaints(paths));

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

/** Addresses of this server that a page links to, loads or asks. Those of texts may lead nowhere. */
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
