/** Compares merges of a real history's commits with git's. */
import { fromHex } from "../../src/base/format/oid.ts";
import { mergeCommits } from "../../src/object/merge/merge-commits.ts";
import { OpenRepository } from "../../src/object/objects/open-repository.ts";
import { NewObjects } from "../../src/object/push/new-objects.ts";
import { git, gitBytes, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { ANYONE } from "../../test/harness/requester.ts";
import { mergeByGit, outcomeOf } from "../../test/object/merge/merge-outcome.ts";
import { PushedRepository } from "../../test/object/pushing.ts";
import { count, text } from "../options.ts";
import { defineCheck } from "./check.ts";
import { demandSame, showProgress } from "./report.ts";

/** Two commits to merge. */
interface Pair {
  readonly kind: string;
  readonly ours: string;
  readonly theirs: string;
}

const PERSON = "A U Thor <author@example.com> 1700000000 +0000";

export const merge = defineCheck({
  text: `Merges commits of HISTORY, without a server, and compares with git merge-tree
--write-tree: whether the merge is clean, the id of the merged tree (with conflict markers where
there are conflicts), and the versions of each path in conflict. Four kinds of merge: the parents
of real merges; a commit cherry-picked onto another one, or reverted there; trees of three random
commits; trees of five, so that there are two merge bases.`,
  operands: "HISTORY",
  options: {
    cases: count("merges of each kind", 200),
    distance: count("maximum number of commits between random ones", 300),
    seed: count("of the random choices", 1),
    git: text("PATH", "git to compare with (default git)"),
  },
  async run(run, { cases, distance, seed, git: program }, [source]) {
    const dir = await run.openHistory(source!);
    const pairs = await makePairs(dir, new Random(seed), cases, distance);
    const pushed = new PushedRepository();
    const refs = pairs.flatMap(({ ours, theirs }) => [ours, theirs].map((oid) => [`refs/heads/${oid}`, oid]));
    await pushed.pushFrom(dir, Object.fromEntries(refs) as Record<string, string>);
    const repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
    const { graph } = repository.tables;
    const positionOf = (commit: string): number => graph.position(repository.numberOf(fromHex(commit)));
    for (const [i, { kind, ours, theirs }] of pairs.entries()) {
      showProgress(`merge ${i + 1} of ${pairs.length}`);
      await run.tally.check(`${kind}: ${ours} and ${theirs}`, async () => {
        const expected = await run.tally.time(`${kind}, git`, () => mergeByGit(dir, ours, theirs, program));
        const made = new NewObjects(repository.state.platform.codec);
        const merged = await run.tally.time(kind, async () =>
          mergeCommits(repository, positionOf(ours), positionOf(theirs), { ours, theirs }, made),
        );
        run.tally.count(expected.isClean ? "clean merges" : "merges with conflicts");
        demandSame("outcome", JSON.stringify(outcomeOf(merged)), JSON.stringify(expected));
      });
    }
  },
});

/** Makes commits whose merge bases have the trees of other commits. */
async function makePairs(dir: string, random: Random, cases: number, distance: number): Promise<Pair[]> {
  const commits = (await git(dir, "rev-list", "--all", "--topo-order")).split("\n");
  const pairs = await findMerges(dir, random, cases);
  /** Makes a commit with another one's tree. */
  const commit = async (like: string, ...parents: readonly string[]): Promise<string> => {
    const tree = await git(dir, "rev-parse", `${like}^{tree}`);
    const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${PERSON}`];
    // The random message makes commits with the same tree and parents differ.
    const stdin = `${lines.join("\n")}\ncommitter ${PERSON}\n\n${random.below(2 ** 31)}\n`;
    return (await gitBytes(dir, ["hash-object", "-t", "commit", "-w", "--stdin"], { stdin })).toString().trim();
  };
  const fork = async (kind: string, base: string, ours: string, theirs: string): Promise<Pair> => {
    const root = await commit(base);
    return { kind, ours: await commit(ours, root), theirs: await commit(theirs, root) };
  };
  for (let i = 0; i < cases; i++) {
    showProgress(`making merges: ${i} of ${cases}`);
    const picked = random.pick(commits);
    const { code, stdout } = await tryGit(dir, ["rev-parse", "--verify", "-q", `${picked}^1`]);
    const [base, theirs] = random.shuffled([code === 0 ? stdout.trim() : picked, picked]);
    pairs.push(await fork("a commit picked or reverted", base!, random.pick(commits), theirs!));

    const start = random.below(commits.length);
    const near = (): string => commits[Math.min(commits.length - 1, start + random.below(distance))]!;
    pairs.push(await fork("three trees at random", near(), near(), near()));

    const origin = await commit(near());
    const bases = [await commit(near(), origin), await commit(near(), origin)];
    const sides = [await commit(near(), ...bases), await commit(near(), ...bases.toReversed())];
    pairs.push({ kind: "two merge bases", ours: sides[0]!, theirs: sides[1]! });
  }
  return pairs;
}

/** Some of the history's own merges. */
async function findMerges(dir: string, random: Random, most: number): Promise<Pair[]> {
  const merges = (await git(dir, "rev-list", "--all", "--merges", "--parents")).split("\n").filter(Boolean);
  const pairs: Pair[] = [];
  for (const line of random.shuffled(merges)) {
    if (pairs.length === most) break;
    const [, ours, theirs] = line.split(" ") as [string, string, string];
    const related = await tryGit(dir, ["merge-base", ours, theirs]);
    if (related.code === 0) pairs.push({ kind: "parents of a merge", ours, theirs });
  }
  return pairs;
}
