/** Times of the web pages on long histories, beside cgit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { authorization } from "../../../test/harness/authorization.ts";
import { git } from "../../../test/harness/git.ts";
import { LONG_FILE, makeLongHistory } from "../../../test/harness/long-history.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { count, counts } from "../../options.ts";
import { type Bench, defineCase } from "../figures/bench.ts";
import type { Work } from "../figures/sample.ts";
import type { Host } from "../hosts/host.ts";
import { apiPathOf, askHoldfast, HOST_OPTIONS, openHosts } from "../hosts/hosts.ts";

/** A push has a limit of objects: a long history is pushed in so many parts. */
const PARTS = 4;

/** Files that differ in the comparison, about. */
const COMPARED_FILES = 700;

/** Lines of `LONG_FILE` at the end. */
const LONG_LINES = 3_500;

export const pages = defineCase({
  summary: "the web pages on long histories, beside cgit",
  about: `"native" is cgit (package cgit) as a CGI program, without its cache. "again" is one page that was asked
for before, "others" are pages that nobody has asked for yet, "first byte" is when a page begins.`,
  options: {
    commits: counts("of each history", [3_000, 80_000]),
    files: counts("of each history, in the same order", [400, 4_000]),
    requests: count("of each page", 50),
    ...HOST_OPTIONS,
  },
  async measure({ commits, files, requests, ...values }, bench) {
    const { holdfast } = await openHosts({ ...values, "no-native": true }, bench);
    for (const [index, size] of commits.entries()) {
      process.stderr.write(`making ${size} commits\n`);
      const shape = { commits: size, files: files[index] ?? files.at(-1)!, longLines: LONG_LINES };
      const dir = await makeLongHistory(shape);
      const cgit = values["no-native"] ? undefined : openCgit(dir);
      if (cgit === undefined) console.error("cgit is not measured (package cgit).");
      const url = (await pushParts(dir, holdfast)).replace(/\.git$/, "");
      const at = { url, cgit, commits: size, requests };
      for (const page of await listPages(dir, requests))
        await bench.attempt(page.name, () => measurePage(page, at, bench));
      await measureAfterPushes(url, { page: "repository, first after a push", commits: size }, bench);
    }
  },
});

/** A page: the same for both sides, and others of its kind. */
interface Page {
  readonly name: string;
  readonly again: Addresses;
  readonly others: readonly Addresses[];
}

/** Below the repository's URL, of Holdfast and of cgit. */
type Addresses = readonly [holdfast: string, cgit: string];

/** Pushes `main` in parts, as fewer objects go into one push than a long history has. */
async function pushParts(dir: string, host: Host): Promise<string> {
  const url = await host.makeRepository();
  const line = (await git(dir, "rev-list", "--first-parent", "--reverse", "main")).split("\n");
  for (let part = 1; part <= PARTS; part++) {
    process.stderr.write(`pushing part ${part} of ${PARTS}\n`);
    const tip = line[Math.floor((line.length * part) / PARTS) - 1]!;
    await git(dir, "push", "-q", url, `${tip}:refs/heads/main`);
  }
  await host.rest(url);
  return url;
}

/** The pages that are measured, of a history as `makeLongHistory` makes it. */
async function listPages(dir: string, requests: number): Promise<Page[]> {
  const list = async (...args: readonly string[]): Promise<string[]> =>
    spread((await git(dir, ...args)).split("\n"), requests);
  const directories = await list("ls-tree", "-rd", "--name-only", "main");
  const files = await list("ls-tree", "-r", "--name-only", "main");
  const middle = files[files.length >> 1]!;
  const commits = await list("rev-list", "main");
  const long = await list("rev-list", "main", "--", LONG_FILE);
  const tree = (path: string): Addresses => [`/tree/main/${path}`, `tree/${path}`];
  const file = (path: string): Addresses => [`/blob/main/${path}`, `tree/${path}`];
  const log = (rev: string): Addresses => [`/commits/${rev}`, `log/?id=${rev}`];
  const pathLog = (path: string): Addresses => [`/commits/main/${path}`, `log/${path}`];
  const blame = (rev: string): Addresses => [`/blame/${rev}/${LONG_FILE}`, `blame/${LONG_FILE}?id=${rev}`];
  const commit = (oid: string): Addresses => [`/commit/${oid}`, `commit/?id=${oid}`];
  const base = await findBase(dir);
  const compare = (head: string): Addresses => [`/compare/${base}...${head}`, `diff/?id=${head}&id2=${base}`];
  const recent = (await git(dir, "rev-list", "--first-parent", "-100", "main")).split("\n");
  return [
    { name: "repository", again: ["", ""], others: [] },
    { name: "directory", again: tree("src"), others: directories.map(tree) },
    { name: "file", again: file(middle), others: files.map(file) },
    { name: `file of ${LONG_LINES} lines`, again: file(LONG_FILE), others: [] },
    { name: "commits", again: log("main"), others: commits.map(log) },
    { name: "commits of a file", again: pathLog(middle), others: files.map(pathLog) },
    { name: "commits of README.md", again: pathLog("README.md"), others: [] },
    { name: `blame of ${LONG_LINES} lines`, again: blame("main"), others: long.slice(0, 5).map(blame) },
    { name: "commit", again: commit(commits[0]!), others: commits.map(commit) },
    { name: `compare of ${COMPARED_FILES} files`, again: compare("main"), others: spread(recent, 5).map(compare) },
  ];
}

/** Some of a list, evenly. */
function spread(all: readonly string[], most: number): string[] {
  return all.filter(
    (_, index) => Math.floor((index * most) / all.length) !== Math.floor(((index - 1) * most) / all.length),
  );
}

/** The newest commit from which on about `COMPARED_FILES` files have changed; the oldest where
 * there are fewer. */
async function findBase(dir: string): Promise<string> {
  const line = (await git(dir, "rev-list", "--first-parent", "main")).split("\n");
  for (let back = 64; back < line.length; back *= 2) {
    const changed = (await git(dir, "diff", "--name-only", line[back]!, "main")).split("\n");
    if (changed.length >= COMPARED_FILES) return line[back]!;
  }
  return line.at(-1)!;
}

/** First the others, which nobody may have asked for; then one page again and again. */
async function measurePage(
  { name, again, others }: Page,
  { url, cgit, commits, requests }: { url: string; cgit: Cgit | undefined; commits: number; requests: number },
  bench: Bench,
): Promise<void> {
  process.stderr.write(`${name}\n`);
  const work = { page: name, commits };
  const measure = async ([ours, theirs]: Addresses, kind: string, round: number): Promise<void> => {
    bench.note(work, "holdfast", round, toMeasures(await timePage(url + ours), kind));
    if (cgit !== undefined) bench.note(work, "native", round, toMeasures(await cgit(theirs), kind));
  };
  for (const [index, one] of others.entries()) await measure(one, "others", index + 1);
  for (let request = 0; request <= requests; request++) await measure(again, "again", request);
}

function toMeasures({ firstMs, ms }: PageTimes, kind: string): Record<string, number> {
  return { [`${kind} ms`]: ms, [`${kind}, first byte ms`]: firstMs };
}

/** How long the repository's page takes when a file has just been saved. */
async function measureAfterPushes(url: string, work: Work, bench: Bench): Promise<void> {
  for (let round = 1; round <= 5; round++) {
    const operations = [{ op: "put", path: "README.md", content: `saved ${round} times\n` }];
    const author = { name: "A", email: "a@example.com" };
    const json = { branch: "main", message: "save", author, operations };
    await askHoldfast(url, `${apiPathOf(url)}/commits`, { method: "POST", json });
    bench.note(work, "holdfast", round, toMeasures(await timePage(url), "again"));
  }
}

/** @throws Error unless the page comes whole, with success */
async function timePage(url: string): Promise<PageTimes> {
  const startMs = performance.now();
  const response = await fetch(url, { headers: { ...authorization(), Accept: "text/html" } });
  let firstMs = Number.NaN;
  for await (const _ of response.body!) if (Number.isNaN(firstMs)) firstMs = performance.now() - startMs;
  if (!response.ok) throw new Error(`${url} was answered with ${response.status}`);
  return { firstMs, ms: performance.now() - startMs };
}

/** Where distributions install it. */
const PROGRAMS = ["/usr/lib/cgit/cgit.cgi", "/var/www/cgi-bin/cgit"];

/** How long a page took. */
interface PageTimes {
  /** Until the first bytes of the body. */
  readonly firstMs: number;
  readonly ms: number;
}

/** Makes a page. @param path such as `log/src?id=main`, below the repository's URL */
type Cgit = (path: string) => Promise<PageTimes>;

/** Sets cgit up for one repository.
 * @returns undefined if it is not installed */
function openCgit(dir: string): Cgit | undefined {
  const program = PROGRAMS.find((path) => existsSync(path));
  if (program === undefined) return undefined;
  const config = join(makeTempDir("cgit"), "cgitrc");
  writeFileSync(config, `cache-size=0\nenable-blame=1\nrepo.url=long\nrepo.path=${dir}\n`);
  return async (path) => {
    const [info, query = ""] = path.split("?");
    const env = { CGIT_CONFIG: config, PATH_INFO: `/long/${info}`, QUERY_STRING: query, REQUEST_METHOD: "GET" };
    const startMs = performance.now();
    const child = spawn(program, { env, stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    let head = "";
    let firstMs = Number.NaN;
    for await (const piece of child.stdout) {
      if (head === "") firstMs = performance.now() - startMs;
      // The status is among the first lines.
      if (head.length < 1_000) head += String(piece);
    }
    const [code] = (await exited) as [number | null];
    if (code !== 0 || !/^Content-Type: text\/html/m.test(head) || /^Status: [45]/m.test(head))
      throw new Error(`cgit ended with ${code} for ${path}: ${head.slice(0, 300)}`);
    return { firstMs, ms: performance.now() - startMs };
  };
}
