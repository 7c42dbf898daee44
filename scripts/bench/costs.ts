/** `npm run bench:costs`: the tables of docs/cost.md and docs/scaling.md, made of counted operations. */
import { readCommandLine } from "../command-line.ts";
import { fillPages, writePages } from "./operations/pages.ts";

const USAGE = `Usage: npm run bench:costs -- [OPTIONS]

Makes the tables of docs/cost.md and docs/scaling.md anew, of docs/performance/operations.csv, which
npm run bench:operations -- --csv docs/performance/operations.csv writes, and of the list prices in
scripts/bench/operations/prices.ts.

  --check  changes nothing; ends with 1 and names the pages that are not as they would be made
  --help   this text
`;

try {
  const { values } = readCommandLine({
    options: { check: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
  });
  if (values.help) process.stdout.write(USAGE);
  else if (values.check) {
    const stale = fillPages().filter(({ found, filled }) => found !== filled);
    for (const { path } of stale) console.error(`${path} is not what its figures say: npm run bench:costs makes it`);
    if (stale.length > 0) process.exitCode = 1;
  } else {
    for (const path of writePages()) process.stdout.write(`${path}\n`);
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
