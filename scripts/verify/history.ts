/** Checks of what a history's fetches send: everything, commit by commit, and between any two. */
import { join } from "node:path";
import { git, gitBytes, listRefs, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { decodePkts, demux } from "../../test/harness/raw.ts";
import { listReachable } from "../../test/harness/received-pack.ts";
import { replay } from "../../test/harness/replay.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { encodeRequest, post } from "../../test/harness/transcript.ts";
import { count, text } from "../options.ts";
import { defineCheck, type Run, SERVER } from "./check.ts";
import { findBranch, makeFetchHistory } from "./fetch-history.ts";
import { demandSame, showProgress } from "./report.ts";

export const history = defineCheck({
  text: `Pushes every ref of HISTORY, clones it as a mirror, compares all refs and runs git fsck.
Then pushes the last commits of one branch (first parents only) one by one, with a fetch after
each into one old clone, and compares the number of objects sent with the number missing.`,
  operands: "HISTORY",
  options: {
    commits: count("commits to push, or as many as there are", 200, 0),
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

export const incremental = defineCheck({
  text: `Pushes HISTORY, then forces a branch onto another line, so that most commits were never
tips and some no longer have a ref. Then fetches commit B as a client that has exactly the objects
reachable from commit A, for pairs of the last commits, including merged and forced-away lines. The
pack must hold exactly the objects that are reachable from B and not from A.`,
  operands: "HISTORY",
  options: {
    commits: count("first-parent commits of the main branch to choose from", 200),
    pairs: count("ordered pairs to try", 200),
    seed: count("of the choice", 1),
    server: SERVER,
  },
  async run(run, { commits, pairs, seed, server }, [source]) {
    const { earlierDir, laterDir, branch } = await makeFetchHistory(await run.openHistory(source!));
    const list = async (...revisions: string[]): Promise<string[]> =>
      (await git(laterDir, "rev-list", ...revisions)).split("\n");
    const oldest = (await list("--first-parent", `--max-count=${commits}`, branch)).at(-1)!;
    const wanted = [oldest, ...(await list(branch, "weave", "new", "forced", `^${oldest}`))];
    // What only the forced branch's old value reached: the rest of the earlier state still exists.
    const gone = await list(await git(earlierDir, "rev-parse", "forced"), "--not", "--all");
    const { url } = (await run.openServer(server)).newRepository();
    showProgress("pushing");
    await git(earlierDir, "push", "-q", url, "forced");
    await git(laterDir, "push", "-q", "--mirror", url);
    // Unpacks the packs; every base exists in the other repository.
    const scratchDir = makeTempDir("scratch");
    await git(scratchDir, "clone", "-q", "--bare", "--shared", "--no-tags", laterDir, ".");
    const random = new Random(seed);
    for (let number = 1; number <= pairs; number++) {
      showProgress(`pair ${number} of ${pairs}`);
      const [from, to] = [random.pick([...wanted, ...gone]), random.pick(wanted)];
      await run.tally.check(`from ${from} to ${to}`, async () => {
        const had = await listReachable(laterDir, from);
        // Git only looks at the trees of the boundary commits: it lists some objects that the
        // client has.
        const missing = [...(await listReachable(laterDir, to, `^${from}`))].filter((oid) => !had.has(oid));
        const pack = await run.tally.time("fetch", () => fetchPack(url, to, from, number % 2 === 0));
        const { sent, bases } = await listPack(scratchDir, pack);
        run.tally.count("objects sent", sent.length);
        run.tally.count("bytes of packs", pack.length);
        demandSame("objects sent", sent.toSorted().join(" "), missing.toSorted().join(" "));
        demandSame("thin bases that the client has not", bases.filter((oid) => !had.has(oid)).join(" "), "");
      });
    }
  },
});

/** Fetches one commit as a client that has another.
 * @throws Error if no pack arrives */
async function fetchPack(url: string, to: string, from: string, isThin: boolean): Promise<Buffer> {
  const lines = [...(isThin ? ["thin-pack"] : []), "no-progress", "ofs-delta", `want ${to}`, `have ${from}`, "done"];
  const { status, body } = await post({ url }, encodeRequest("command=fetch", "delim", ...lines, "flush"), 2);
  const pkts = decodePkts(body);
  const start = pkts.findIndex((pkt) => pkt.toString() === "packfile\n");
  if (start < 0) throw new Error(`no pack arrived: status ${status}, ${body.toString("latin1", 0, 300)}`);
  const { data, error } = demux(pkts.slice(start + 1));
  if (error !== "") throw new Error(`the pack broke off: ${error}`);
  return data;
}

/** Lists a pack's objects by git.
 * @param dir a repository that has every base
 * @returns the ids of the sent objects, in order, and of the bases that a thin pack lacks */
async function listPack(dir: string, pack: Buffer): Promise<{ sent: string[]; bases: string[] }> {
  const count = pack.readUInt32BE(8);
  // An empty pack needs no index-pack.
  if (count === 0) return { sent: [], bases: [] };
  const stdout = (await gitBytes(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack })).toString();
  const shown = await git(dir, "verify-pack", "-v", `objects/pack/pack-${stdout.trim().split("\t").at(-1)}.idx`);
  // id, type, size, size in the pack, offset; index-pack appends the bases.
  const entries = Array.from(
    shown.matchAll(/^([0-9a-f]{40}) (?:commit|tree|blob|tag) +\d+ \d+ (\d+)/gm),
    ([, oid, offset]) => {
      return { oid: oid!, offset: Number(offset) };
    },
  );
  const oids = entries.toSorted((a, b) => a.offset - b.offset).map(({ oid }) => oid);
  return { sent: oids.slice(0, count), bases: oids.slice(count) };
}
