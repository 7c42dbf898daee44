/** Compares what clients of every kind get from Holdfast and from git's own server: shallow,
 * deepened, partial, outdated. */
import { join } from "node:path";
import { git } from "../../test/harness/git.ts";
import { startNative } from "../../test/harness/native.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { count, defineCheck, flag, SERVER, texts } from "./check.ts";
import { type FetchCase, listCases } from "./fetch-cases.ts";
import { makeFetchHistory } from "./fetch-history.ts";
import { type Pair, PairedClient } from "./paired-client.ts";
import { showProgress } from "./report.ts";
import type { Target } from "./target.ts";

/** Native git serves these only if configured; Holdfast always does. `allowRefInWant` is left out:
 * with ref names, git answers a shallow fetch in an order that its own client does not read (2.39:
 * "expected 'packfile', received 'shallow-info'"). */
const NATIVE_CONFIG = ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"];

export default defineCheck({
  text: `Pushes HISTORY to Holdfast and to git http-backend, runs the same clients with both, and
compares after each command: exit code, output, refs, shallow commits, the reachable and missing
objects of rev-list, git fsck, and the objects that are present. Holdfast must send all that git
sends, except objects that git sends without need, and nothing else, except objects that git omits
with several filters. Fresh clones must have exactly the same objects.`,
  operands: "HISTORY",
  options: {
    only: texts("PATTERN", "cases whose name matches this regular expression (default all)"),
    jobs: count(2, "cases that run at the same time"),
    list: flag("prints the names of the cases, with their commands"),
    server: SERVER,
  },
  async run(run, { only, jobs, list, server }, [source]) {
    const { earlierDir, laterDir, ...history } = await makeFetchHistory(await run.openHistory(source!));
    const patterns = only.map((pattern) => new RegExp(pattern));
    const cases = listCases({ earlierDir, laterDir, ...history }).filter(
      ({ name }) => patterns.length === 0 || patterns.some((one) => one.test(name)),
    );
    if (list) return process.stdout.write(cases.map(describe).join("")) as unknown as void;
    const nativeDir = makeTempDir("native");
    const native = await startNative(nativeDir);
    run.stack.defer(() => native.close());
    const target = await run.openServer(server);
    const push = (dir: string): Promise<Pair<string>> => pushToBoth(target, native.url, nativeDir, dir);
    const follow = async (one: FetchCase, urls: Pair<string>): Promise<() => Promise<void>> => {
      const pair = new PairedClient([...one.commands, ...one.after], urls, laterDir, run.tally);
      const play = (commands: FetchCase["commands"]): Promise<boolean> =>
        run.tally.check(one.name, () => pair.play(commands));
      const isWell = await play(one.commands);
      return async () => {
        if (isWell) await play(one.after);
        pair.finish();
        showProgress(`${++done} of ${cases.length} cases: ${one.name}`);
      };
    };
    let done = 0;
    showProgress("pushing");
    const later = await push(laterDir);
    const [moving, still] = [
      cases.filter(({ after }) => after.length > 0),
      cases.filter(({ after }) => after.length === 0),
    ];
    await forEach(still, jobs, async (one) => (await follow(one, one.pushes ? await push(laterDir) : later))());
    const urls = await push(earlierDir);
    const rests: (() => Promise<void>)[] = [];
    await forEach(moving, jobs, async (one) => void rests.push(await follow(one, urls)));
    for (const url of Object.values(urls) as string[]) await git(laterDir, "push", "-q", "--mirror", url);
    await forEach(rests, jobs, (rest) => rest());
  },
});

/** Pushes all refs of a repository into a new one on each server.
 * @returns their URLs */
async function pushToBoth(target: Target, nativeUrl: string, nativeDir: string, dir: string): Promise<Pair<string>> {
  const { url } = target.newRepository();
  const name = url.split("/").at(-1)!;
  const bare = join(nativeDir, name);
  await git(nativeDir, "init", "-q", "--bare", name);
  for (const key of NATIVE_CONFIG) await git(bare, "config", key, "true");
  const urls = { holdfast: url, native: `${nativeUrl}/${name}` };
  for (const one of [urls.holdfast, urls.native]) await git(dir, "push", "-q", "--mirror", one);
  const [, head] = /^ref: (\S+)\tHEAD$/m.exec(await git(dir, "ls-remote", "--symref", url, "HEAD")) ?? [];
  if (head !== undefined) await git(bare, "symbolic-ref", "HEAD", head);
  return urls;
}

/** Processes a list in order, a few items at a time. */
async function forEach<Item>(items: readonly Item[], jobs: number, act: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: jobs }, work));
}

function describe({ name, commands, after }: FetchCase): string {
  return `${name}\n${[...commands, ...after].map((one) => `    git ${one.join(" ")}\n`).join("")}`;
}
