/** Compares merges of a real history's commits with those of git. */
import { join, resolve } from "node:path";
import "./wasm-modules.ts";
import { readCommandLine } from "../command-line.ts";
import type { MergeOutcome } from "../../test/repository/merge/merge-outcome.ts";
import { askApi } from "../../test/harness/api.ts";
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { startServer } from "../../test/harness/server.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { formatRows, showProgress } from "./report.ts";
import { ANYONE } from "../../test/harness/requester.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/merge.ts [OPTIONS] HISTORY

Merges commits of HISTORY (a bundle, or a repository's folder), and compares with git merge-tree --write-tree: whether the
merge is clean, the id of the merged tree (with conflict markers where there are conflicts), and the versions of each path
in conflict. Four kinds of merge: the parents of real merges; a commit picked onto another one, or reverted there; trees
of three commits at random; and of five, such that there are two merge bases. Then some of them again through
POST /merge of a server. Ends with 1 if anything differs.

  --count N      merges of each kind (default 200)
  --distance N   commits between those at random, at the most (default 300)
  --seed N       which ones (default 1)
  --http N       merges through the API (default 50)
  --server URL   the server, such as http://localhost:8787; it gets a repository below /verify/ (default: one is started)
  --git PATH     git to compare with (default git)
  --help         this text
`;

const { values, positionals } = readCommandLine({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "200" },
    distance: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    http: { type: "string", default: "50" },
    server: { type: "string" },
    git: { type: "string", default: "git" },
    help: { type: "boolean", default: false },
  },
});
if (values.help || positionals.length !== 1) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
const { PushedRepository } = await import("../../test/repository/pushing.ts");
const { mergeByGit, outcomeOf } = await import("../../test/repository/merge/merge-outcome.ts");
const { OpenRepository } = await import("../../src/repository/objects/open-repository.ts");
const { NewObjects } = await import("../../src/repository/publish/new-objects.ts");
const { mergeCommits } = await import("../../src/repository/merge/merge-commits.ts");
const { fromHex } = await import("../../src/format/oid.ts");

/** Two commits to be merged. */
interface Pair {
  readonly kind: string;
  readonly ours: string;
  readonly theirs: string;
  /** The commits that they were made of, for looking into it. */
  readonly from: readonly string[];
}

const COUNT = Number(values.count);
const PERSON = "A U Thor <author@example.com> 1700000000 +0000";

const random = new Random(Number(values.seed));
const dir = join(makeTempDir("merge"), "history.git");

async function commitTree(tree: string, ...parents: readonly string[]): Promise<string> {
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${PERSON}`];
  // Commits of one tree and parents are different ones, all the same.
  const stdin = `${lines.join("\n")}\ncommitter ${PERSON}\n\n${random.below(2 ** 31)}\n`;
  return (await tryGit(dir, ["hash-object", "-t", "commit", "-w", "--stdin"], { stdin })).stdout.trim();
}

const treeOf = (commit: string): Promise<string> => git(dir, "rev-parse", `${commit}^{tree}`);

/** Commits whose merge base has the first tree. */
async function forkTrees(kind: string, base: string, ours: string, theirs: string): Promise<Pair> {
  const root = await commitTree(await treeOf(base));
  const sides = [await commitTree(await treeOf(ours), root), await commitTree(await treeOf(theirs), root)] as const;
  return { kind, ours: sides[0], theirs: sides[1], from: [base, ours, theirs] };
}

async function findRealMerges(): Promise<Pair[]> {
  const merges = (await git(dir, "rev-list", "--all", "--merges", "--parents"))
    .split("\n")
    .filter((line) => line !== "");
  const pairs: Pair[] = [];
  for (const line of random.shuffled(merges)) {
    const [merge, ours, theirs] = line.split(" ") as [string, string, string];
    const related = await tryGit(dir, ["merge-base", ours, theirs]);
    if (related.code === 0) pairs.push({ kind: "parents of a merge", ours, theirs, from: [merge] });
    if (pairs.length === COUNT) break;
  }
  return pairs;
}

async function makePairs(commits: readonly string[]): Promise<Pair[]> {
  const pairs: Pair[] = await findRealMerges();
  for (let i = 0; i < COUNT; i++) {
    showProgress(`making merges: ${i} of ${COUNT}`);
    const picked = random.pick(commits);
    const { code, stdout } = await tryGit(dir, ["rev-parse", "--verify", "-q", `${picked}^1`]);
    const change = code === 0 ? [stdout.trim(), picked] : [picked, picked];
    const [base, theirs] = random.shuffled(change);
    pairs.push(await forkTrees("a commit picked or reverted", base!, random.pick(commits), theirs!));

    const start = random.below(commits.length);
    const near = () => commits[Math.min(commits.length - 1, start + random.below(Number(values.distance)))]!;
    pairs.push(await forkTrees("three trees at random", near(), near(), near()));

    const from = [near(), near(), near(), near(), near()];
    const [root, left, right, ours, theirs5] = await Promise.all(from.map(treeOf));
    const origin = await commitTree(root!);
    const bases = [await commitTree(left!, origin), await commitTree(right!, origin)] as const;
    const sides = [await commitTree(ours!, ...bases), await commitTree(theirs5!, bases[1], bases[0])] as const;
    pairs.push({ kind: "two merge bases", ours: sides[0], theirs: sides[1], from });
  }
  return pairs;
}

/** What differs, null: nothing. */
function compare(actual: MergeOutcome, expected: MergeOutcome): string | null {
  if (actual.isClean !== expected.isClean) return "clean or not";
  if (actual.stages.join("\0") !== expected.stages.join("\0")) return "paths in conflict";
  return actual.tree === expected.tree ? null : "tree";
}

interface Tally {
  clean: number;
  conflicts: number;
  different: number;
  ms: number;
  gitMs: number;
}

const tallies = new Map<string, Tally>();

function count({ kind, ours, theirs, from }: Pair, isClean: boolean, difference: string | null): Tally {
  const tally = tallies.get(kind) ?? { clean: 0, conflicts: 0, different: 0, ms: 0, gitMs: 0 };
  tallies.set(kind, tally);
  if (isClean) tally.clean += 1;
  else tally.conflicts += 1;
  if (difference !== null) {
    tally.different += 1;
    console.error(`${kind}: ${difference} differs: ${ours} and ${theirs}, of ${from.join(" ")}`);
  }
  return tally;
}

async function compareInProcess(pairs: readonly Pair[]): Promise<void> {
  const pushed = new PushedRepository();
  await pushed.pushFrom(dir, Object.fromEntries(pairs.flatMap(refsOf)));
  const repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
  const { graph } = repository.tables;
  const positionOf = (commit: string): number => graph.position(repository.numberOf(fromHex(commit)));
  for (const [i, pair] of pairs.entries()) {
    showProgress(`merging: ${i} of ${pairs.length}`);
    const { ours, theirs } = pair;
    const startMs = performance.now();
    const expected = await mergeByGit(dir, ours, theirs, values.git);
    const middleMs = performance.now();
    const made = new NewObjects(repository.state.platform.codec);
    const merged = await mergeCommits(repository, positionOf(ours), positionOf(theirs), { ours, theirs }, made);
    const endMs = performance.now();
    const tally = count(pair, expected.isClean, compare(outcomeOf(merged), expected));
    tally.ms += endMs - middleMs;
    tally.gitMs += middleMs - startMs;
  }
}

interface Answer {
  readonly tree?: string;
  readonly error?: { code: string; conflicts?: { path: string; base: unknown; ours: unknown; theirs: unknown }[] };
}

async function compareByHttp(pairs: readonly Pair[], url: string): Promise<void> {
  const name = `merge-${Date.now()}`;
  await git(
    dir,
    "push",
    "-q",
    `${url}/verify/${name}.git`,
    ...pairs.flatMap(refsOf).map(([ref, oid]) => `${oid}:${ref}`),
  );
  for (const [i, { ours, theirs, from }] of pairs.entries()) {
    showProgress(`merging through the API: ${i} of ${pairs.length}`);
    const author = { name: "A U Thor", email: "author@example.com" };
    const json = { base: `ours/${ours}`, head: theirs, fastForward: "never", author, dryRun: i % 2 === 0 };
    const { status, body } = await askApi<Answer>({ url }, `/repos/verify/${name}/merge`, { method: "POST", json });
    const expected = await mergeByGit(dir, ours, theirs, values.git);
    const conflicts = (body.error?.conflicts ?? []).filter((one) => one.base ?? one.ours ?? one.theirs);
    const isClean = status === 200 || status === 201;
    const wanted = new Set(
      expected.stages.map((line) => Buffer.from(line.slice(line.indexOf("\t") + 1), "latin1").toString()),
    );
    const isSame = expected.isClean
      ? isClean && body.tree === expected.tree
      : status === 409 && conflicts.length === wanted.size && conflicts.every(({ path }) => wanted.has(path));
    count({ kind: "through the API", ours, theirs, from }, expected.isClean, isSame ? null : "answer");
  }
}

function refsOf({ ours, theirs }: Pair): [string, string][] {
  return [
    [`refs/heads/ours/${ours}`, ours],
    [`refs/heads/theirs/${theirs}`, theirs],
  ];
}

await git(".", "clone", "-q", "--bare", resolve(positionals[0]!), dir);
const pairs = await makePairs((await git(dir, "rev-list", "--all", "--topo-order")).split("\n"));
await compareInProcess(pairs);
const server = values.server === undefined ? await startServer() : null;
await compareByHttp(random.shuffled(pairs).slice(0, Number(values.http)), (values.server ?? server?.url)!);
await server?.close();
const rows = Array.from(tallies, ([kind, { clean, conflicts, different, ms, gitMs }]) => {
  const each = (total: number): string => (total === 0 ? "" : `${(total / (clean + conflicts)).toFixed(0)} ms`);
  return [kind, `${clean}`, `${conflicts}`, `${different}`, each(ms), each(gitMs)];
});
console.log(formatRows([["merges", "clean", "conflicts", "different", "each", "git"], ...rows], [1, 2, 3, 4, 5]));
process.exitCode = tallies.values().some(({ different }) => different > 0) ? 1 : 0;
