// Compares patches of random pairs of commits, renames and all, with git's, to the byte. It needs no server: `compare.ts` asks one.
import { readCommandLine } from "../command-line.ts";
import { git, tryGit } from "../../test/harness/git.ts";
import { Random } from "../../test/harness/random.ts";
import { DiskDiff } from "../../test/repository/diff/disk-diff.ts";
import { formatRows, showProgress } from "./report.ts";

const HELP = `Usage: node_modules/.bin/node scripts/verify/diff.ts [--pairs 200] [--seed 1] <repository>

Compares patches of random pairs of commits with those of "git diff -M --full-index". Near pairs and far ones take turns.`;

const { values, positionals } = readCommandLine({
  options: { pairs: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
  allowPositionals: true,
});
const [dir] = positionals;
if (values.help === true || dir === undefined) {
  console.log(HELP);
  process.exit(values.help === true ? 0 : 2);
}

const diff = new DiskDiff(dir);
const random = new Random(Number(values.seed ?? 1));
const commits = (await git(dir, "rev-list", "--all")).split("\n");
const pairCount = Number(values.pairs ?? 200);
let [files, renames, differences, bytes, ownMs, gitMs] = [0, 0, 0, 0, 0, 0];
for (let i = 0; i < pairCount; i++) {
  showProgress(`${i} of ${pairCount} pairs`);
  const at = random.below(commits.length);
  const far = random.pick([1, 5, 50, commits.length]);
  const [base, head] = [commits[at]!, commits[(at + 1 + random.below(far)) % commits.length]!];
  const options = ["diff", "-M", "--no-color", "--no-ext-diff"];
  const start = performance.now();
  const expected = (await tryGit(dir, [...options, "--full-index", base, head])).stdoutBytes;
  gitMs += performance.now() - start;
  const expectedStats = (await tryGit(dir, [...options, "--numstat", "-z", base, head])).stdoutBytes.toString("latin1");
  const own = await diff.compare(base, head);
  ownMs += own.ms;
  files += own.files;
  bytes += expected.length;
  renames += expected.toString("latin1").match(/^rename to /gm)?.length ?? 0;
  if (expected.equals(own.patch) && expectedStats === own.stats) continue;
  differences++;
  console.error(`${base} ${head} differ`);
}
diff.close();
showProgress("");
console.log(
  formatRows([
    ["pairs", String(pairCount)],
    ["files", String(files)],
    ["renames", String(renames)],
    ["patch bytes", String(bytes)],
    ["ms, contents in memory", ownMs.toFixed(0)],
    ["ms of git diff, its process included", gitMs.toFixed(0)],
    ["differences", String(differences)],
  ]),
);
process.exitCode = differences === 0 ? 0 : 1;
