/** The check at the end, without load: all views of the repository must be what was
 * acknowledged. */
import { checkRepository, describeProblem, toCheckUrl } from "../fsck/check-repository.ts";
import { demandSame, WrongAnswer } from "../verify/report.ts";
import type { StressedRepository } from "./stressed-repository.ts";

/** Clones the repository, compares refs with what was acknowledged and with the API, and has the
 * server check itself. */
export async function checkAtEnd(repository: StressedRepository): Promise<void> {
  const refs = await repository.look("ls-remote at the end");
  await repository.clone("clone at the end");
  repository.explainLooks();
  if (refs === null) return;
  await repository.check("refs at the end", () => demandNone(repository.refs.compare(refs)));
  await compareList(repository, "branches", "refs/heads/", refs);
  await compareList(repository, "tags", "refs/tags/", refs);
  const problems = await repository.run("fsck of the server", () => listProblems(repository.url));
  await repository.check("fsck of the server", () => demandNone(problems ?? []));
}

/** @throws WrongAnswer with the problems, if there are any */
function demandNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new WrongAnswer(problems.join("; "));
}

async function compareList(
  repository: StressedRepository,
  list: "branches" | "tags",
  prefix: string,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  const { target, path } = repository;
  const pages = await repository.run(`GET ${list} at the end`, () =>
    target.readPages<{ name: string; commit?: string; oid?: string }>(`${path}/${list}?limit=100`, list),
  );
  if (pages === null) return;
  const listed = pages.items.map(({ name, commit, oid }) => `${commit ?? oid} ${prefix}${name}`);
  const expected = [...refs].filter(([name]) => name.startsWith(prefix)).map(([name, oid]) => `${oid} ${name}`);
  await repository.check(`${list} at the end`, () => {
    demandSame(`list of ${list}`, listed.toSorted().join("\n"), expected.toSorted().join("\n"));
  });
}

/** The server's check of all that is stored. */
async function listProblems(url: string): Promise<string[]> {
  const found: string[] = [];
  for await (const report of checkRepository({ url: toCheckUrl(url), attempts: 1 })) {
    for (const problem of report.problems) if (problem.kind !== "orphan") found.push(describeProblem(problem));
    const untold = report.problemCount - report.problems.length;
    if (untold > 0) found.push(`and ${untold} more`);
  }
  return found;
}
