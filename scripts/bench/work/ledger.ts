/** What was acknowledged, to be held against what the repositories hold in the end. */
import { git, makeRepository, tryGit } from "../../../test/harness/git.ts";
import { type Edit, SUBJECT, subjectOf } from "./edit.ts";

/** A save that the server has acknowledged. */
export type LandedSave = Pick<Edit, "number" | "path" | "slot">;

/** Where it has landed. */
interface Landed extends LandedSave {
  readonly url: string;
  readonly branch: string;
}

/** Every save of a run. */
export class Ledger {
  readonly #saves: Landed[] = [];
  #count = 0;

  /** A number for the next save. */
  nextNumber(): number {
    return ++this.#count;
  }

  /** Notes what has landed. */
  note(url: string, branch: string, { number, path, slot }: Edit): void {
    this.#saves.push({ url, branch, number, path, slot });
  }

  /** Has git look at every repository that was saved to: whether its objects are sound, whether every save is there once, and whether
   * the files are as the last saves left them.
   * @returns how many saves there are
   * @throws Error if anything is amiss */
  async check(): Promise<number> {
    for (const [url, inRepository] of Map.groupBy(this.#saves, (save) => save.url)) {
      const dir = await makeRepository("check.git", "--bare");
      await git(dir, "fetch", "-q", url, "+refs/heads/*:refs/heads/*");
      await git(dir, "fsck", "--strict");
      for (const [branch, saves] of Map.groupBy(inRepository, (save) => save.branch)) {
        const faults = findFaults(saves, await readSubjects(dir, branch), await readLines(dir, branch));
        if (faults.length > 0) throw new Error(`${branch} of ${url}: ${faults.join("; ")}`);
      }
    }
    return this.#saves.splice(0).length;
  }
}

/** Subjects of the commits that are no merges, children before their parents. */
async function readSubjects(dir: string, branch: string): Promise<string[]> {
  return (await git(dir, "log", "--topo-order", "--no-merges", "--format=%s", branch)).split("\n");
}

/** The lines that saves have written into files, as `<path>:Save <number>`. */
async function readLines(dir: string, branch: string): Promise<Set<string>> {
  const { stdout } = await tryGit(dir, ["grep", "-E", `^${SUBJECT}[0-9]+$`, branch]);
  return new Set(stdout.split("\n").map((line) => line.slice(branch.length + 1)));
}

/** What is not as it must be after some saves of one branch.
 * @param subjects of its commits, the last ones first
 * @param lines `<path>:<subject>` for whatever save a file shows */
export function findFaults(
  saves: readonly LandedSave[],
  subjects: readonly string[],
  lines: ReadonlySet<string>,
): string[] {
  const bySubject = new Map(saves.map((save) => [subjectOf(save.number), save]));
  const counts = Map.groupBy(
    subjects.filter((subject) => subject.startsWith(SUBJECT)),
    (subject) => subject,
  );
  const faults: string[] = [];
  for (const subject of bySubject.keys()) {
    const count = counts.get(subject)?.length ?? 0;
    if (count !== 1) faults.push(count === 0 ? `${subject} is lost` : `${subject} is there ${count} times`);
  }
  for (const subject of counts.keys()) {
    if (!bySubject.has(subject)) faults.push(`${subject} is there, which was never acknowledged`);
  }
  const seen = new Set<string>();
  for (const subject of subjects) {
    const save = bySubject.get(subject);
    if (save === undefined || seen.has(save.slot)) continue;
    seen.add(save.slot);
    if (!lines.has(`${save.path}:${subject}`)) faults.push(`${subject} is a commit, but ${save.path} does not show it`);
  }
  return faults;
}
