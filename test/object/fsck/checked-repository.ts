/** Repositories to check, and checks of all calls. */
import { expect } from "vitest";
import type { FsckSetting } from "../../../src/base/codec/fsck-messages.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { fsck } from "../../../src/object/fsck/fsck.ts";
import type { FsckPlace, FsckReport, FsckStageName, FsckCounts, FsckProblem } from "../../../src/contract/upkeep.ts";
import { git } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { ANYONE } from "../../harness/requester.ts";
import { TinyPushes } from "../maintenance/tiny-pushes.ts";
import type { PushedRepository } from "../pushing.ts";

/** What all calls together found. */
interface Found {
  readonly problems: FsckProblem[];
  readonly checked: Record<keyof FsckCounts, number>;
  readonly calls: number;
}

/** Checks a whole repository, call by call. */
export async function check(
  { repository }: PushedRepository,
  options: { rules?: FsckSetting; repair?: boolean; from?: FsckStageName; budgetSteps?: number } = {},
): Promise<Found> {
  const problems: FsckProblem[] = [];
  const checked: Record<string, number> = {};
  let calls = 0;
  let place: FsckPlace | null = options.from === undefined ? null : { stage: options.from, after: "" };
  do {
    const opened = new OpenRepository(repository.state, ANYONE, async () => undefined);
    const { rules = null, repair = false, budgetSteps } = options;
    const report: FsckReport = await fsck(opened, {
      place,
      rules,
      repair,
      ...(budgetSteps !== undefined && { budgetSteps }),
    });
    expect(report.problemCount).toBe(report.problems.length);
    problems.push(...report.problems);
    for (const [name, count] of Object.entries(report.checked)) checked[name] = (checked[name] ?? 0) + count;
    place = report.next;
    calls++;
  } while (place !== null);
  return { problems, checked, calls };
}

/** A history with every kind of stored data: many refs, an R2 chunk, hot chunks of thin packs,
 * reverts, tags of trees and blobs. */
export async function fill(repository: PushedRepository): Promise<string> {
  const dir = await makeHistory({ commits: 30, files: 24, branches: 4, merges: 2, tags: 4, upheavals: 6 });
  await git(dir, "tag", "-a", "-m", "a tree", "of-tree", "main^{tree}");
  await git(dir, "tag", "-a", "-m", "a tag", "of-tag", "of-tree");
  await git(dir, "tag", "of-blob", (await git(dir, "ls-tree", "-r", "main")).split(/\s/)[2]!);
  const names = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await repository.pushFrom(dir, Object.fromEntries(names.map((name) => [name, name])));
  const fat = makeObject("blob", new Random(5).bytes(700_000));
  const tree = makeTree(["100644", "fat", fat]);
  const commit = makeCommit(tree, [], "Fat\n");
  await repository.push([["refs/heads/fat", null, commit.oid]], packOf(fat, tree, commit));
  await new TinyPushes(repository).push(5, "refs/heads/tiny");
  return dir;
}
