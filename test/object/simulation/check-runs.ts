import { expect } from "vitest";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { simulate } from "./run.ts";

/** Runs whose final clone git checks. */
const CHECKED_BY_GIT = 4;

/** Makes runs: everything acknowledged must exist, whatever fails and whenever the process dies. */
export async function checkRuns(firstSeed: number, count: number): Promise<void> {
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const { violations, trace, clone } = await simulate(seed, 1);
    if (violations.length > 0) expect.fail(`seed ${seed}:\n${trace.join("\n")}`);
    if (seed < CHECKED_BY_GIT && clone !== null) await checkByGit(clone.pack, clone.refs);
  }
}

/** Has git check a pack, and that it holds everything that refs reach. */
async function checkByGit(pack: Buffer, refs: ReadonlyMap<string, string>): Promise<void> {
  const dir = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(dir, ["index-pack", "--strict", "--stdin"], { stdin: pack });
  expect([indexed.code, indexed.stderr]).toEqual([0, ""]);
  const stdin = [...refs].map(([name, oid]) => `create ${name} ${oid}\n`).join("");
  expect((await tryGit(dir, ["update-ref", "--stdin"], { stdin })).code).toBe(0);
  expect(await git(dir, "fsck", "--strict", "--full", "--no-dangling", "--no-progress")).toBe("");
}
