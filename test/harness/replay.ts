import { git, makeRepository, tryGit } from "./git.ts";
import { countReceived } from "./received-pack.ts";

/** One commit, pushed separately and fetched. */
export interface ReplayStep {
  readonly commit: string;
  /** Objects reachable from the commit but not from the previous one: what a fetch must send. */
  readonly missing: number;
  /** Objects of the received pack. */
  readonly received: number;
  readonly pushMs: number;
  readonly fetchMs: number;
}

/** A history to replay. */
export interface Replay {
  /** A repository with the history. */
  readonly origin: string;
  /** The branch, below `refs/heads/`. */
  readonly branch: string;
  /** An empty remote. */
  readonly url: string;
  /** How many first-parent commits are pushed one by one; those before are pushed at once. */
  readonly commits: number;
}

/** Replays the end of a branch: push after push, each followed by a fetch into one old clone.
 * @returns the old clone's directory, and the steps as they happen */
export async function replay(
  history: Replay,
): Promise<{ clone: string; steps: AsyncGenerator<ReplayStep, void, void> }> {
  const { origin, branch, url, commits } = history;
  const ref = `refs/heads/${branch}`;
  const listed = await git(origin, "rev-list", "--first-parent", "--reverse", `--max-count=${commits + 1}`, ref);
  const [first, ...rest] = listed.split("\n");
  const clone = await makeRepository("old.git", "--bare");
  await git(origin, "push", "-q", url, `${first}:${ref}`);
  await git(clone, "fetch", "-q", "--no-tags", url, `+${ref}:${ref}`);
  return { clone, steps: playSteps() };

  async function* playSteps(): AsyncGenerator<ReplayStep, void, void> {
    let before = first!;
    for (const commit of rest) {
      const missing = await countAbsent(origin, clone, before, commit);
      const startMs = performance.now();
      await git(origin, "push", "-q", url, `${commit}:${ref}`);
      const pushedMs = performance.now();
      const received = await countReceived(clone, "fetch", "-q", "--no-tags", url, `+${ref}:${ref}`);
      yield { commit, missing, received, pushMs: pushedMs - startMs, fetchMs: performance.now() - pushedMs };
      before = commit;
    }
  }
}

/** Counts what is reachable from `to` and missing in a clone of exactly `from`. (`rev-list
 * from..to` lists more, since it does not examine everything reachable from `from`.) */
async function countAbsent(origin: string, clone: string, from: string, to: string): Promise<number> {
  const listed = await git(origin, "rev-list", "--objects", "--no-object-names", `${from}..${to}`);
  const checked = await tryGit(clone, ["cat-file", "--batch-check"], { stdin: `${listed}\n` });
  return checked.stdout.split("\n").filter((line) => line.endsWith(" missing")).length;
}
