/** When all is quiet: what is there must be what was acknowledged, by every way to see it. */
import { checkRepository, describeProblem, toCheckUrl } from "../fsck/check-repository.ts";
import { demandSame } from "./same.ts";
import type { StressedRepository } from "./stressed-repository.ts";
import { WrongAnswer } from "./tally.ts";

/** Clones it, holds refs against what was acknowledged and against the API, and has the server check itself. */
export async function checkAtEnd(repository: StressedRepository): Promise<void> {
  const refs = await repository.look("ls-remote at the end");
  await repository.clone("clone at the end");
  repository.settle();
  if (refs === null) return;
  await repository.check("refs at the end", async () => {
    const problems = repository.refs.compare(refs);
    if (problems.length > 0) throw new WrongAnswer(problems.join("; "));
  });
  await compareList(repository, "branches", "refs/heads/", refs);
  await compareList(repository, "tags", "refs/tags/", refs);
  await checkStored(repository);
}

async function compareList(
  repository: StressedRepository,
  list: "branches" | "tags",
  prefix: string,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  const { target, path } = repository;
  const items = await repository.run(`GET ${list} at the end`, () =>
    target.readPages<{ name: string; commit?: string; oid?: string }>(`${path}/${list}?limit=100`, list),
  );
  if (items === null) return;
  const listed = items.map(({ name, commit, oid }) => `${commit ?? oid} ${prefix}${name}`);
  const expected = [...refs].filter(([name]) => name.startsWith(prefix)).map(([name, oid]) => `${oid} ${name}`);
  await repository.check(`${list} at the end`, async () => {
    demandSame(`list of ${list}`, listed.toSorted().join("\n"), expected.toSorted().join("\n"));
  });
}

/** Goes through all that is stored. */
async function checkStored(repository: StressedRepository): Promise<void> {
  const { url } = repository;
  const problems = await repository.run("fsck of the server", async () => {
    const found: string[] = [];
    for await (const report of checkRepository({ url: toCheckUrl(url), attempts: 1 })) {
      found.push(...report.problems.filter(({ kind }) => kind !== "orphan").map(describeProblem));
      const untold = report.problemCount - report.problems.length;
      if (untold > 0) found.push(`and ${untold} more`);
    }
    return found;
  });
  await repository.check("fsck of the server", async () => {
    if (problems !== null && problems.length > 0) throw new WrongAnswer(problems.join("; "));
  });
}
