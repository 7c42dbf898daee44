/** Checks that fetches between any two commits bring exactly what is missing. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readCommandLine } from "./command-line.ts";
import { git, tryGit } from "../test/harness/git.ts";
import { Random } from "../test/harness/random.ts";
import { DELIM, decodePkts, demux, encodePkt, FLUSH, request } from "../test/harness/raw.ts";
import { startServer } from "../test/harness/server.ts";
import { makeTempDir } from "../test/harness/temp-dir.ts";
import { Closures } from "./verify/closures.ts";
import { makeFetchHistory } from "./verify/fetch-history.ts";
import { formatRows, showProgress } from "./verify/report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify-incremental.ts [OPTIONS] HISTORY [URL]

Pushes HISTORY (a bundle, or a repository's folder or URL), then forces a branch onto another line, so that most commits were never
tips and some no longer have a ref. Then asks, by hand, for commit B as a client that has exactly what commit A leads to, for pairs
of the last commits, merged and forced-away lines among them. The pack must hold exactly the objects that B leads to and A does
not, by the difference of the two whole sets. Ends with 1 if anything differs.

URL is that of a Holdfast server, such as http://localhost:8787; it gets a new repository below /verify/. Without it, a
server is started for the check alone.

  --commits N  first-parent commits of the main branch to choose from (default 200)
  --pairs N    ordered pairs to try (default 400)
  --seed N     of the choice (default 1)
  --help       this text
`;

/** Objects by what they are to a pair. */
interface PairResult {
  readonly from: string;
  readonly to: string;
  readonly missing: number;
  readonly sent: number;
  /** Sent without need; not sent though missing; sent twice. */
  readonly extra: readonly string[];
  readonly lost: readonly string[];
  readonly twice: readonly string[];
  /** Bases of thin deltas that the client has not. */
  readonly strange: readonly string[];
  readonly packBytes: number;
  readonly ms: number;
}

/** Asks for one commit as a client that has another.
 * @throws Error if no pack comes */
async function fetchPack(url: string, to: string, from: string, isThin: boolean): Promise<Buffer> {
  const lines = [...(isThin ? ["thin-pack"] : []), "no-progress", "ofs-delta", `want ${to}`, `have ${from}`, "done"];
  const response = await request(`${url}/git-upload-pack`, {
    method: "POST",
    headers: { "content-type": "application/x-git-upload-pack-request", "git-protocol": "version=2" },
    body: Buffer.concat([encodePkt("command=fetch"), DELIM, ...lines.map((line) => encodePkt(`${line}\n`)), FLUSH]),
  });
  const pkts = decodePkts(response.body);
  const start = pkts.findIndex((pkt) => pkt.toString() === "packfile\n");
  if (start < 0)
    throw new Error(`no pack came: status ${response.status}, ${response.body.toString("latin1", 0, 300)}`);
  const { data, error } = demux(pkts.slice(start + 1));
  if (error !== "") throw new Error(`the pack broke off: ${error}`);
  return data;
}

/** Lists a pack's objects as git finds them.
 * @param dir a repository that has every base
 * @returns the ids of what was sent, in order, and of the bases that a thin pack lacks */
async function listPack(dir: string, pack: Buffer): Promise<{ sent: string[]; bases: string[] }> {
  const count = pack.readUInt32BE(8);
  // An empty pack is no work for index-pack.
  if (count === 0) return { sent: [], bases: [] };
  const indexed = await tryGit(dir, ["index-pack", "--stdin", "--fix-thin"], { stdin: pack });
  if (indexed.code !== 0) throw new Error(`git index-pack ended with ${indexed.code}:\n${indexed.stderr}`);
  const path = `objects/pack/pack-${indexed.stdout.trim().split("\t").at(-1)}`;
  const shown = await git(dir, "verify-pack", "-v", `${path}.idx`);
  // id, type, size, size in the pack, offset; index-pack appends the bases.
  const entries = shown.split("\n").filter((line) => /^[0-9a-f]{40} (commit|tree|blob|tag) /.test(line));
  const oids = entries
    .map((line) => line.split(/ +/))
    .map((fields) => ({ oid: fields[0]!, offset: Number(fields[4]) }))
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ oid }) => oid);
  return { sent: oids.slice(0, count), bases: oids.slice(count) };
}

async function tryPair(
  { url, scratchDir, closures }: { readonly url: string; readonly scratchDir: string; readonly closures: Closures },
  { from, to, isThin }: { readonly from: string; readonly to: string; readonly isThin: boolean },
): Promise<PairResult> {
  const missing = closures.difference(to, from);
  const start = performance.now();
  const pack = await fetchPack(url, to, from, isThin);
  const ms = performance.now() - start;
  const { sent, bases } = await listPack(scratchDir, pack);
  const sentOnce = new Set(sent);
  const unseen = new Set(sent);
  return {
    from,
    to,
    missing: missing.size,
    sent: sent.length,
    extra: [...sentOnce].filter((oid) => !missing.has(oid)),
    lost: [...missing].filter((oid) => !sentOnce.has(oid)),
    twice: sent.filter((oid) => !unseen.delete(oid)),
    strange: bases.filter((oid) => !closures.has(from, oid)),
    packBytes: pack.length,
    ms,
  };
}

function isExact({ extra, lost, twice, strange }: PairResult): boolean {
  return [extra, lost, twice, strange].every((oids) => oids.length === 0);
}

function reportPair({ from, to, extra, lost, twice, strange }: PairResult): void {
  const show = (oids: readonly string[]): string => `${oids.length} (${oids.slice(0, 3).join(" ")})`;
  showProgress("");
  console.error(
    `from ${from} to ${to}: extra ${show(extra)}, lost ${show(lost)}, twice ${show(twice)}, strange bases ${show(strange)}`,
  );
}

function formatSummary(results: readonly PairResult[]): string {
  const sum = (count: (result: PairResult) => number): string =>
    String(results.reduce((total, one) => total + count(one), 0));
  const times = results.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return formatRows([
    ["pairs", String(results.length)],
    ["  with nothing missing", String(results.filter(({ missing }) => missing === 0).length)],
    ["  exact", String(results.filter(isExact).length)],
    ["objects missing", sum(({ missing }) => missing)],
    ["objects sent", sum(({ sent }) => sent)],
    ["  without need", sum(({ extra }) => extra.length)],
    ["  twice", sum(({ twice }) => twice.length)],
    ["objects missing and not sent", sum(({ lost }) => lost.length)],
    ["thin bases that the client has not", sum(({ strange }) => strange.length)],
    ["bytes of the packs", sum(({ packBytes }) => packBytes)],
    ["ms, median", (times[Math.floor(times.length / 2)] ?? 0).toFixed(1)],
    ["ms, longest", (times.at(-1) ?? 0).toFixed(1)],
  ]);
}

/** @returns whether every pair was exact */
async function verify(
  source: string,
  options: { url?: string; commits: number; pairs: number; seed: number },
): Promise<boolean> {
  showProgress(`reading ${source}`);
  const { earlierDir, laterDir, branch } = await makeFetchHistory(existsSync(source) ? resolve(source) : source);
  const list = async (dir: string, ...revisions: string[]): Promise<string[]> =>
    (await git(dir, "rev-list", "--topo-order", "--reverse", ...revisions)).split("\n");
  const oldest = (await git(laterDir, "rev-list", "--first-parent", `--max-count=${options.commits}`, branch))
    .split("\n")
    .at(-1)!;
  // What the forced branch was before; nothing else of the earlier state is gone.
  const gone = await list(laterDir, await git(earlierDir, "rev-parse", "forced"), "--not", "--all");
  const wanted = [oldest, ...(await list(laterDir, branch, "weave", "new", "forced", `^${oldest}`))];
  showProgress("reading what each commit leads to");
  const closures = await Closures.read(laterDir, [...wanted, ...gone]);
  const server = options.url === undefined ? await startServer() : null;
  const url = `${(options.url ?? server!.url).replace(/\/$/, "")}/verify/${Date.now().toString(36)}-incremental.git`;
  try {
    showProgress("pushing");
    await git(earlierDir, "push", "-q", url, "forced");
    await git(laterDir, "push", "-q", "--mirror", url);
    // Takes the packs in; every base is at hand in the other repository.
    const scratchDir = makeTempDir("scratch");
    await git(scratchDir, "clone", "-q", "--bare", "--shared", "--no-tags", laterDir, ".");
    const random = new Random(options.seed);
    const results: PairResult[] = [];
    for (let count = 0; count < options.pairs; count++) {
      const pair = { from: random.pick([...wanted, ...gone]), to: random.pick(wanted), isThin: count % 2 === 0 };
      const result = await tryPair({ url, scratchDir, closures }, pair);
      if (!isExact(result)) reportPair(result);
      results.push(result);
      showProgress(`${results.length} of ${options.pairs} pairs`);
    }
    showProgress("");
    console.log(`${wanted.length} commits, and ${gone.length} that no ref leads to\n${formatSummary(results)}`);
    return results.every(isExact);
  } finally {
    await server?.close();
  }
}

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "200" },
    pairs: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
// Removed with all that is made in it when this process ends.
process.env["HOLDFAST_TEST_DIR"] = makeTempDir("verify");
const [history, url] = positionals;
const [commits, pairs, seed] = [values.commits, values.pairs, values.seed].map(Number) as [number, number, number];
// Exiting, unlike ending by the signal, removes the temporary folder.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
if (values.help) console.log(USAGE);
else if (
  history === undefined ||
  positionals.length > 2 ||
  ![commits, pairs, seed].every((one) => Number.isInteger(one) && one > 0)
) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const isSame = await verify(history, { commits, pairs, seed, ...(url === undefined ? {} : { url }) });
  process.exitCode = isSame ? 0 : 1;
}
