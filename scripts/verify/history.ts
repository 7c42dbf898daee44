/** Checks that a history is fetched exactly as it was pushed: as a whole, and commit by commit. */
import { join } from "node:path";
import { git, listRefs, tryGit } from "../../test/harness/git.ts";
import { replay } from "../../test/harness/replay.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { count, defineCheck, type Run, SERVER, text } from "./check.ts";
import { findBranch } from "./fetch-history.ts";
import { demandSame, showProgress } from "./report.ts";

export default defineCheck({
  text: `Pushes every ref of HISTORY, clones it as a mirror, compares all refs and runs git fsck.
Then pushes the last commits of one branch (first parents only) one by one, with a fetch after
each into one old clone, and compares the number of objects sent with the number missing.`,
  operands: "HISTORY",
  options: {
    commits: count(200, "commits to push, or as many as there are", 0),
    branch: text("NAME", "their branch (default the one that HEAD names, or else the newest)"),
    server: SERVER,
  },
  async run(run, { commits, branch, server }, [source]) {
    const [origin, target] = [await run.openHistory(source!), await run.openServer(server)];
    await checkWhole(run, origin, target.newRepository().url);
    const { url } = target.newRepository();
    await checkReplay(run, { origin, branch: branch ?? (await findBranch(origin)), url, commits });
  },
});

/** Pushes all refs at once, and makes a mirror clone. */
async function checkWhole({ tally }: Run, origin: string, url: string): Promise<void> {
  showProgress("pushing every ref, cloning, checking");
  await tally.time("push of every ref", () => git(origin, "push", "-q", "--mirror", url));
  const mirror = await tally.time("mirror clone", () => cloneMirror(url));
  await compare(tally, "the clone", mirror, origin);
  tally.count("objects cloned", Number(await git(mirror, "rev-list", "--objects", "--all", "--count")));
}

/** Pushes and fetches commit by commit. */
async function checkReplay({ tally }: Run, history: Parameters<typeof replay>[0]): Promise<void> {
  showProgress(`pushing ${history.branch} up to where the replay begins`);
  const { clone, steps } = await replay(history);
  let pushes = 0;
  for await (const { commit, missing, received, pushMs, fetchMs } of steps) {
    showProgress(`replay: ${++pushes} pushes`);
    tally.took("push of one commit", pushMs);
    tally.took("fetch after it", fetchMs);
    tally.count("objects fetched", received);
    if (received > missing) tally.wrong(`${commit}: ${received} objects were sent, ${missing} were missing`);
  }
  await compare(tally, "the old clone", clone, await cloneMirror(history.url));
  const tips = [clone, history.origin].map((dir) => git(dir, "rev-parse", history.branch));
  await tally.check("the old clone", async () => demandSame("its tip", await tips[0]!, await tips[1]!));
}

async function compare(tally: Run["tally"], what: string, actual: string, expected: string): Promise<void> {
  await tally.check(what, async () => demandSame("refs", await listRefs(actual), await listRefs(expected)));
  await tally.check(what, async () => demandSame("git fsck", await checkObjects(actual), await checkObjects(expected)));
}

async function cloneMirror(from: string): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", from, dir);
  return dir;
}

/** The output of fsck on a repository, even if it reports flaws: an old history may have some of
 * its own. */
async function checkObjects(dir: string): Promise<string> {
  const { code, stdout, stderr } = await tryGit(dir, ["fsck", "--full", "--no-dangling"]);
  // The branch that HEAD names is not a flaw of the objects.
  const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !line.startsWith("notice: HEAD "));
  return [`exit code ${code}`, ...lines.toSorted()].join("\n");
}
