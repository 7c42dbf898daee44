/** What the authors of the serverless Git host that this one is measured against say of theirs. */

/** Milliseconds by work and number of ~8 KB files, on their own machine, with a local server: their README's table. Theirs includes bringing the
 * files of the branch up to date after an incremental push. */
const AUTHORS_MS: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  push: { 100: 182, 1000: 585, 5000: 3400 },
  clone: { 100: 107, 1000: 686, 5000: 3100 },
  "incremental push": { 100: 130, 1000: 372, 5000: 867 },
  "all files": { 100: 65, 1000: 190, 5000: 435 },
  stats: { 100: 67, 1000: 186, 5000: 447 },
};

/** Their figure of a work, if they tell one (ms). */
export function findAuthorsMs(work: string, files: number): number | undefined {
  return AUTHORS_MS[work]?.[files];
}
