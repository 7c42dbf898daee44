/** Checks a repository's integrity through its API. */
import { runCommandLine } from "./command-line.ts";
import { checkRepository, describeProblem, toCheckUrl } from "./fsck/check-repository.ts";

const USAGE = `Usage: node_modules/.bin/node scripts/fsck.ts [OPTIONS] URL

Checks the repository at URL (as for git: https://git.example.com/me/my-repo.git): chunks and their
checksums, objects and their ids and references, index, graph, refs, and the R2 objects below the
repository's id. Prints one line for each problem.

  --rules SETTING  also report what git's fsck finds: default, strict or lenient
  --repair         rebuild what can be rebuilt from stored objects, and remove orphans
  --quiet          no progress
  --help           this text

HOLDFAST_TOKEN must hold a token that may administer the repository.

Exit status: 0 if nothing is wrong (orphans are reported, but are no damage), 1 if something is, 2
if the check failed.
`;

const OPTIONS = { rules: { type: "string" }, repair: { type: "boolean" }, quiet: { type: "boolean" } } as const;

/** Attempts per call while the server fails. */
const ATTEMPTS = 5;

/** @returns the number of problems */
async function check(url: URL, isQuiet: boolean): Promise<number> {
  const sums: Record<string, number> = {};
  let damages = 0;
  let orphans = 0;
  for await (const { problems, problemCount, checked } of checkRepository({ url, attempts: ATTEMPTS })) {
    for (const problem of problems) {
      console.log(describeProblem(problem));
      if (problem.kind === "orphan") orphans += 1;
      else damages += 1;
    }
    const untold = problemCount - problems.length;
    if (untold > 0) console.log(`and ${untold} more`);
    damages += untold;
    for (const [name, count] of Object.entries(checked)) sums[name] = (sums[name] ?? 0) + count;
    const progress = Object.entries(sums).map(([name, count]) => `${name} ${count}`);
    if (!isQuiet) process.stderr.write(`${progress.join(", ")}\n`);
  }
  console.log(`${damages} problems, ${orphans} orphans`);
  return damages;
}

try {
  await runCommandLine(
    USAGE,
    OPTIONS,
    async ({ rules, repair = false, quiet = false }, [repository]) => {
      const url = toCheckUrl(repository!);
      if (rules !== undefined) url.searchParams.set("rules", rules);
      if (repair) url.searchParams.set("repair", "true");
      process.exitCode = (await check(url, quiet)) === 0 ? 0 : 1;
    },
    { operands: "URL" },
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
