import type { GraphPosition } from "../../base/numbers/kinds.ts";
import type { CommitGraph } from "../store/graph/commit-graph.ts";

/** How far two commits have diverged. */
export interface AheadBehind {
  /** Commits that the tip reaches and the base does not. */
  readonly ahead: number;
  /** Commits that the base reaches and the tip does not. */
  readonly behind: number;
}

const BY_BASE = 1;
const BY_TIP = 2;
const COMMON = BY_BASE | BY_TIP;

/** Counts the commits that each tip has and the base lacks, and vice versa. Each walk ends where
 * everything is common, so the cost depends on the difference, not on the whole history.
 * @param base position of a commit
 * @param tips positions of commits
 * @returns one for each tip, in their order
 * @see git-rev-list(1) --left-right --count */
export function aheadBehind(graph: CommitGraph, base: GraphPosition, tips: readonly GraphPosition[]): AheadBehind[] {
  const marks = new Uint8Array(tips.reduce((highest, tip) => Math.max(highest, tip), base) + 1);
  return tips.map((tip) => countBetween(graph, base, tip, marks));
}

/** @param marks one byte per position, all zero before and after the call */
function countBetween(graph: CommitGraph, base: GraphPosition, tip: GraphPosition, marks: Uint8Array): AheadBehind {
  const count = { ahead: 0, behind: 0 };
  /** Commits seen but not yet visited that, as far as is known, only one of the two reaches. */
  let open = 0;
  const mark = (position: GraphPosition, bits: number): void => {
    const before = marks[position]!;
    const after = before | bits;
    marks[position] = after;
    open += Number(after !== COMMON) - Number(before !== 0 && before !== COMMON);
  };
  mark(base, BY_BASE);
  mark(tip, BY_TIP);
  const start = Math.max(base, tip);
  let lowest = Math.min(base, tip);
  // Parents have lower positions than their children, so all marks of a position are known when the
  // loop visits it.
  for (let at = start; open > 0; at--) {
    const bits = marks[at]!;
    if (bits === 0) continue;
    if (bits === BY_TIP) count.ahead += 1;
    if (bits === BY_BASE) count.behind += 1;
    if (bits !== COMMON) open -= 1;
    for (const parent of graph.parents(at)) {
      mark(parent, bits);
      lowest = Math.min(lowest, parent);
    }
  }
  marks.fill(0, lowest, start + 1);
  return count;
}
