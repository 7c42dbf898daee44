import { checkRepository, type Problem, toCheckUrl } from "../../scripts/fsck/check-repository.ts";

/** Has a server check a whole repository: a call checks for a second, however much that is.
 * @param remote git's URL
 * @returns what is damaged or unused */
export async function findProblems(remote: string): Promise<Problem[]> {
  const reports = await Array.fromAsync(checkRepository({ url: toCheckUrl(remote), attempts: 1 }));
  return reports.flatMap(({ problems }) => problems);
}
