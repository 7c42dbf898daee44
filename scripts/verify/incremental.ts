/** Checks that a fetch between any two commits sends exactly the missing objects. */
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { decodePkts, demux } from "../../test/harness/raw.ts";
import { listReachable } from "../../test/harness/received-pack.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { encodeRequest, post } from "../../test/harness/transcript.ts";
import { count, defineCheck, SERVER } from "./check.ts";
import { makeFetchHistory } from "./fetch-history.ts";
import { demandSame, showProgress } from "./report.ts";

export default defineCheck({
  text: `Pushes HISTORY, then forces a branch onto another line, so that most commits were never
tips and some no longer have a ref. Then fetches commit B as a client that has exactly the objects
reachable from commit A, for pairs of the last commits, including merged and forced-away lines. The
pack must hold exactly the objects that are reachable from B and not from A.`,
  operands: "HISTORY",
  options: {
    commits: count(200, "first-parent commits of the main branch to choose from"),
    pairs: count(200, "ordered pairs to try"),
    seed: count(1, "of the choice"),
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
  const { code, stdout, stderr } = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  if (code !== 0) throw new Error(`git index-pack ended with ${code}:\n${stderr}`);
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
