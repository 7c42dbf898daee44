// Which of several sources a file comes from: for the detection of renames, and for the history of
// one file.

/** How many sources are kept per destination, in case other destinations take the best ones. */
const CANDIDATES_PER_DESTINATION = 4;

/** What makes one source better than another. */
export interface Ranking {
  readonly score: number;
  /** Whether it has the destination's name. */
  readonly hasName: boolean;
}

/** Sorts the better one first. */
export function compareRanked(a: Ranking, b: Ranking): number {
  return b.score - a.score || Number(b.hasName) - Number(a.hasName);
}

/** Keeps the best candidates, each at its index. Of equal ones the one with the lower index wins in
 * the end.
 * @see record_if_better() in git's diffcore-rename.c */
export function offer<Candidate extends Ranking>(best: Candidate[], ranked: Candidate): void {
  if (best.length < CANDIDATES_PER_DESTINATION) {
    best.push(ranked);
    return;
  }
  let worst = 0;
  for (let i = 1; i < best.length; i++) if (compareRanked(best[i]!, best[worst]!) > 0) worst = i;
  if (compareRanked(best[worst]!, ranked) > 0) best[worst] = ranked;
}
