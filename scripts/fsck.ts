/** Checks that a repository is whole, through its API. */
import { readCommandLine } from "./command-line.ts";
import { checkRepository, describeProblem, toCheckUrl } from "./fsck/check-repository.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/fsck.ts [OPTIONS] URL

Checks the repository at URL (as git has it: https://git.example.com/me/my-repo.git): chunks and their checksums, objects and their ids,
what they refer to, index, graph, refs, and the R2 objects below the repository's id. Prints problems, a line each.

  --rules SETTING  also tell what git's fsck finds: default, strict or lenient
  --repair         make again what can be made of stored objects, and remove what nothing names
  --quiet          no progress
  --help           this text

HOLDFAST_TOKEN is the token, of a right to administer the repository.

Exit status: 0 when nothing is wrong (orphans are told, and are nothing wrong), 1 when something is, 2 when it could not be found out.
`;

/** Attempts of a call that the server could not serve. */
const ATTEMPTS = 5;

async function main(): Promise<number> {
  const { values, positionals } = readCommandLine({
    allowPositionals: true,
    options: {
      rules: { type: "string" },
      repair: { type: "boolean", default: false },
      quiet: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const [repository] = positionals;
  if (values.help || repository === undefined) {
    process.stderr.write(USAGE);
    return values.help ? 0 : 2;
  }
  const url = toCheckUrl(repository);
  if (values.rules !== undefined) url.searchParams.set("rules", values.rules);
  if (values.repair) url.searchParams.set("repair", "true");
  const sums: Record<string, number> = {};
  let damages = 0;
  let orphans = 0;
  for await (const report of checkRepository({ url, attempts: ATTEMPTS })) {
    for (const problem of report.problems) {
      console.log(describeProblem(problem));
      if (problem.kind === "orphan") orphans += 1;
      else damages += 1;
    }
    const untold = report.problemCount - report.problems.length;
    if (untold > 0) console.log(`and ${untold} more`);
    damages += untold;
    for (const [name, count] of Object.entries(report.checked)) sums[name] = (sums[name] ?? 0) + count;
    const progress = Object.entries(sums).map(([name, count]) => `${name} ${count}`);
    if (!values.quiet) process.stderr.write(`${progress.join(", ")}\n`);
  }
  console.log(`${damages} problems, ${orphans} orphans`);
  return damages === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
