/** Compares the API's comparisons of commits with git's. */
import { git } from "../../test/harness/git.ts";
import { defineApiCheck } from "./served-history.ts";
import { compareDiff } from "./shown-diff.ts";

interface Compared {
  readonly mergeBase: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly commits: readonly { readonly oid: string }[];
}

/** The most commits that an answer lists. */
const MOST_COMMITS = 250;

export default defineApiCheck(
  `A case is a random pair of commits, near or far, by three dots or two: merge base, ahead,
behind, the commits listed, files, renames, figures, patches. git apply must turn one tree into the
other with the whole patch.`,
  async (history) => {
    const { random, dir, commits } = history;
    const at = random.below(commits.length);
    const distance = 1 + random.below(random.pick([3, 30, 300, commits.length]));
    const [base, head] = [commits[at]!, commits[(at + distance) % commits.length]!];
    const dots = random.pick(["..", "..."]);
    const mergeBase = await git(dir, "merge-base", base, head).catch(() => null);
    if (mergeBase === null && dots === "...") return [];
    const range = `${base}${dots}${head}`;
    const from = dots === "..." ? mergeBase! : base;
    const { page, comparisons } = await compareDiff<Compared>(history, `/compare/${range}`, from, head);
    const counts = await history.git("rev-list", "--left-right", "--count", `${base}...${head}`);
    const listed = await history.git("log", "--format=%H", `--max-count=${MOST_COMMITS}`, `${base}..${head}`);
    return [
      [`behind and ahead of ${range}`, `${page.behind}\t${page.ahead}`, counts],
      [`merge base of ${range}`, String(page.mergeBase), String(mergeBase)],
      [`commits of ${range}`, page.commits.map(({ oid }) => oid).join("\n"), listed],
      ...comparisons,
    ];
  },
);
