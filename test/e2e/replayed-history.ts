import { join } from "node:path";
import { expect } from "vitest";
import { git, listRefs } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { replay } from "../harness/replay.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

/** Pushes the end of a history commit by commit, fetches each commit into an existing clone, and
 * finally clones everything. No fetch may bring an object twice.
 * @param url of an empty repository
 * @param commits pushed one by one, at most 129 */
export async function expectReplayed(url: string, commits: number): Promise<void> {
  const origin = await makeHistory({ commits: 130, files: 60, branches: 20, merges: 20, upheavals: 40 });
  const { clone, steps } = await replay({ origin, branch: "main", url, commits });
  let pushes = 0;
  for await (const { commit, received, missing } of steps) {
    expect({ commit, received }).toEqual({ commit, received: missing });
    pushes++;
  }
  expect(pushes).toBe(commits);
  const fresh = join(makeTempDir("clone"), "fresh.git");
  await git(makeTempDir("cwd"), "clone", "-q", "--mirror", url, fresh);
  expect(await listRefs(clone)).toBe(await listRefs(fresh));
  expect(await git(fresh, "rev-parse", "main")).toBe(await git(origin, "rev-parse", "main"));
  for (const dir of [clone, fresh]) expect(await git(dir, "fsck", "--full")).toBe("");
}
