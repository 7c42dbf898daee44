/** Checks that the API compares commits as git does. */
import { git } from "../../test/harness/git.ts";
import { formatRows, showProgress } from "./report.ts";
import { checkServed, type ServedHistory, timed } from "./served-history.ts";
import { askPages, compareDiff, type DiffAnswer } from "./shown-diff.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/verify/compare.ts [OPTIONS] HISTORY

Pushes HISTORY (a bundle, or a repository's folder or URL), asks the API to compare random pairs of commits (near and far ones, by
three dots and by two), and compares each answer with git's: merge base, ahead, behind, the commits listed, files, renames, figures,
patches; the whole patch must make the one tree of the other by git apply.
Ends with 1 if anything differs.

  --cases N     how many pairs (default 200)
  --seed N      another number, other pairs (default 1)
  --server URL  a Holdfast server, such as http://localhost:8787; without it one is started for the check alone
  --help        this text
`;

interface Comparison extends DiffAnswer {
  readonly mergeBase: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly commits: readonly { readonly oid: string }[];
}

async function check({ dir, api, random, cases }: ServedHistory): Promise<number> {
  const commits = (await git(dir, "rev-list", "--all")).split("\n");
  const sum = { files: 0, renames: 0, different: 0, apiMs: 0 };
  for (let number = 1; number <= cases; number++) {
    showProgress(`pair ${number} of ${cases}`);
    const at = random.below(commits.length);
    const distance = 1 + random.below(random.pick([3, 30, 300, commits.length]));
    const [base, head] = [commits[at]!, commits[(at + distance) % commits.length]!];
    const dots = random.pick(["..", "..."]);
    const mergeBase = await git(dir, "merge-base", base, head).catch(() => null);
    if (mergeBase === null && dots === "...") continue;
    const url = `${api}/compare/${base}${dots}${head}`;
    const { result: answer, ms } = await timed(() => askPages<Comparison>(url));
    const wrong = await compareDiff(dir, url, answer, dots === "..." ? mergeBase! : base, head);
    const counts = await git(dir, "rev-list", "--left-right", "--count", `${base}...${head}`);
    if (`${answer.behind}\t${answer.ahead}` !== counts) wrong.push("ahead or behind");
    if (answer.mergeBase !== mergeBase) wrong.push("the merge base");
    const listed = await git(dir, "log", "--format=%H", "--max-count=250", `${base}..${head}`);
    if (answer.commits.map(({ oid }) => oid).join("\n") !== listed) wrong.push("the commits");
    sum.files += answer.files.length;
    sum.renames += answer.files.filter(({ oldPath }) => oldPath !== null).length;
    sum.apiMs += ms;
    if (wrong.length === 0) continue;
    sum.different++;
    console.error(`${base}${dots}${head}: ${wrong.join(", ")}`);
  }
  showProgress("");
  console.log(
    formatRows([
      ["pairs compared", String(cases)],
      ["files", String(sum.files)],
      ["renames", String(sum.renames)],
      ["different", String(sum.different)],
      ["API", `${Math.round(sum.apiMs)} ms`],
    ]),
  );
  return sum.different;
}

await checkServed(USAGE, check);
