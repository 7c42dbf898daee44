/** Compares merges of commits of a real history with those of git. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import "./wasm-modules.ts";
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { makeTempDir } from "../../test/harness/temp-dir.ts";
import { showProgress } from "./report.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/merge.ts [OPTIONS] HISTORY

Merges trees of HISTORY (a bundle, or a repository's folder) three ways, and compares with git merge-tree --write-tree:
whether the merge is clean, the id of the merged tree (with conflict markers, where there are conflicts), and each path in
conflict with the versions that it has. Three kinds of merge: the parents of real merges, a commit picked onto another
(or reverted there), and three commits at random. Ends with 1 if anything differs.

  --count N      merges of each kind (default 200)
  --distance N   commits that lie between the three at random, at the most (default 300)
  --seed N       which ones (default 1)
  --git PATH     git to compare with (default git)
  --help         this text
`;

interface Triple {
  readonly kind: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

interface Outcome {
  readonly tree: string;
  /** "mode oid stage\tpath", as merge-tree prints them. */
  readonly stages: readonly string[];
  readonly isClean: boolean;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "200" },
    distance: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    git: { type: "string", default: "git" },
    verbose: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help || positionals.length !== 1) {
  process.stdout.write(USAGE);
  process.exit(values.help ? 0 : 2);
}
const { PushedRepository } = await import("../../test/repository/pushing.ts");
const { OpenRepository } = await import("../../src/repository/open-repository.ts");
const { NewObjects } = await import("../../src/repository/commit/new-objects.ts");
const { mergeTrees } = await import("../../src/repository/merge/merge-trees.ts");
const { fromHex, toHex } = await import("../../src/format/oid.ts");

const count = Number(values.count);
const random = new Random(Number(values.seed));
const dir = join(makeTempDir("merge"), "history.git");
await git(".", "clone", "-q", "--bare", resolve(positionals[0]!), dir);
const commits = (await git(dir, "rev-list", "--all", "--topo-order")).split("\n");
const pushed = new PushedRepository();
const names = (await git(dir, "for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags")).split("\n");
await pushed.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
const repository = new OpenRepository(pushed.repository.state, async () => undefined);

/** Parents of real merges, with their merge base where there is one only. */
async function realMerges(): Promise<Triple[]> {
  const merges = (await git(dir, "rev-list", "--all", "--merges", "--parents"))
    .split("\n")
    .filter((line) => line !== "");
  const found: Triple[] = [];
  for (const line of random.shuffled(merges)) {
    const [, ours, theirs] = line.split(" ") as [string, string, string];
    const { stdout } = await tryGit(dir, ["merge-base", "--all", ours, theirs]);
    const bases = stdout.trim().split("\n");
    if (bases.length === 1 && bases[0] !== "") found.push({ kind: "real merge", base: bases[0]!, ours, theirs });
    if (found.length === count) break;
  }
  return found;
}

async function picks(): Promise<Triple[]> {
  const found: Triple[] = [];
  while (found.length < count) {
    const commit = random.pick(commits);
    const { stdout, code } = await tryGit(dir, ["rev-parse", "--verify", "-q", `${commit}^1`]);
    if (code !== 0) continue;
    const parent = stdout.trim();
    const ours = random.pick(commits);
    const [base, theirs] = random.below(2) === 0 ? [parent, commit] : [commit, parent];
    found.push({ kind: "pick or revert", base, ours, theirs });
  }
  return found;
}

function randomTriples(): Triple[] {
  return Array.from({ length: count }, () => {
    const start = random.below(commits.length);
    const near = () => commits[Math.min(commits.length - 1, start + random.below(Number(values.distance)))]!;
    return { kind: "three at random", base: near(), ours: near(), theirs: near() };
  });
}

/** Makes commits of the three trees, such that the first is the merge base of the others. */
async function makeCommits(triples: readonly Triple[]): Promise<[string, string][]> {
  const lines: string[] = [];
  const person = "A <a@b> 1700000000 +0000";
  const tree = async (commit: string) => (await git(dir, "rev-parse", `${commit}^{tree}`)).trim();
  const commit = async (content: string): Promise<string> => {
    const { stdout } = await tryGit(dir, ["hash-object", "-t", "commit", "-w", "--stdin"], { stdin: content });
    return stdout.trim();
  };
  const made: [string, string][] = [];
  for (const { base, ours, theirs } of triples) {
    const of = async (at: string, parent: string | null, message: string) =>
      commit(
        `tree ${await tree(at)}\n${parent === null ? "" : `parent ${parent}\n`}author ${person}\ncommitter ${person}\n\n${message}\n`,
      );
    const root = await of(base, null, "base");
    made.push([await of(ours, root, "ours"), await of(theirs, root, "theirs")]);
  }
  void lines;
  return made;
}

async function mergeByGit(ours: string, theirs: string): Promise<Outcome> {
  const { spawnSync } = await import("node:child_process");
  const { gitEnv } = await import("../../test/harness/git.ts");
  const args = [
    "-C",
    dir,
    ...(process.env["NO_RENAMES"] ? ["-c", "merge.renames=false"] : []),
    "merge-tree",
    "--write-tree",
    "-z",
    "--no-messages",
    ours,
    theirs,
  ];
  const { status, stdout, stderr } = spawnSync(values.git, args, { env: gitEnv(), encoding: "latin1" });
  if (status !== 0 && status !== 1) throw new Error(stderr);
  const [tree, ...stages] = stdout.split("\0").filter((line) => line !== "");
  return { tree: tree!, stages, isClean: status === 0 };
}

async function mergeByHoldfast(triple: Triple, labels: { ours: string; theirs: string }): Promise<Outcome> {
  const tree = async (commit: string) => fromHex((await git(dir, "rev-parse", `${commit}^{tree}`)).trim());
  const made = new NewObjects(pushed.repository.state.platform.codec);
  const roots = { base: await tree(triple.base), ours: await tree(triple.ours), theirs: await tree(triple.theirs) };
  const merged = await mergeTrees(repository, roots, labels, made);
  if (merged.kind === "clean") return { tree: toHex(merged.tree), stages: [], isClean: true };
  const stages = merged.conflicts.flatMap(({ path, versions }) =>
    versions.flatMap((version, i) =>
      version === null ? [] : [`${version.mode.toString(8).padStart(6, "0")} ${toHex(version.oid)} ${i + 1}\t${path}`],
    ),
  );
  return { tree: toHex(merged.tree), stages, isClean: false };
}

const tally = new Map<string, { same: number; clean: number; different: number; ms: number; gitMs: number }>();
const triples = [...(await realMerges()), ...(await picks()), ...randomTriples()];
const commitsMade = await makeCommits(triples);
for (const [i, triple] of triples.entries()) {
  const [ours, theirs] = commitsMade[i]!;
  showProgress(`${i} of ${triples.length}`);
  const startMs = performance.now();
  const expected = await mergeByGit(ours, theirs);
  const middleMs = performance.now();
  const actual = await mergeByHoldfast(triple, { ours, theirs });
  const row = tally.get(triple.kind) ?? { same: 0, clean: 0, different: 0, ms: 0, gitMs: 0 };
  tally.set(triple.kind, row);
  row.gitMs += middleMs - startMs;
  row.ms += performance.now() - middleMs;
  const verdict =
    actual.isClean !== expected.isClean
      ? "clean or not"
      : actual.stages.join("\n") !== [...expected.stages].join("\n")
        ? "paths in conflict"
        : actual.tree !== expected.tree
          ? "tree"
          : null;
  if (verdict === null) row.same += 1;
  else row.different += 1;
  if (expected.isClean) row.clean += 1;
  if (verdict !== null) {
    console.error(
      `${triple.kind}: ${verdict} differs: base ${triple.base} ours ${triple.ours} theirs ${triple.theirs}`,
    );
    if (values.verbose) {
      const mine = new Set(actual.stages);
      const gits = new Set(expected.stages);
      console.error(`  dir ${dir} ${ours} ${theirs} trees ${expected.tree} ${actual.tree}`);
      for (const line of gits.difference(mine)) console.error(`  - ${line}`);
      for (const line of mine.difference(gits)) console.error(`  + ${line}`);
    }
  }
}
for (const [kind, row] of tally) console.log(kind, JSON.stringify(row));
void mkdirSync;
void writeFileSync;
process.exit(tally.values().some(({ different }) => different > 0) ? 1 : 0);
