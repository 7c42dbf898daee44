/** Pushes, fetches, the API, housekeeping, a failing bucket and crashes, all at once: `scripts/verify/concurrent.ts` makes more of them. */
import { expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { simulate } from "./simulation/run.ts";

/** Runs whose last clone git looks at. */
const CHECKED_BY_GIT = 4;

/** Has git check a pack, and that it holds all that refs lead to. */
async function checkByGit(pack: Buffer, refs: ReadonlyMap<string, string>): Promise<void> {
  const dir = await makeRepository("clone.git", "--bare");
  const indexed = await tryGit(dir, ["index-pack", "--strict", "--stdin"], { stdin: pack });
  expect([indexed.code, indexed.stderr]).toEqual([0, ""]);
  const stdin = [...refs].map(([name, oid]) => `create ${name} ${oid}\n`).join("");
  expect((await tryGit(dir, ["update-ref", "--stdin"], { stdin })).code).toBe(0);
  expect(await git(dir, "fsck", "--strict", "--full", "--no-dangling", "--no-progress")).toBe("");
}

test.each(Array.from({ length: 6 }, (_, i) => i * 20))(
  "what was acknowledged is there, whatever fails and whenever the process dies (20 runs from seed %i)",
  async (first) => {
    for (let seed = first; seed < first + 20; seed++) {
      const { violations, trace, clone } = await simulate(seed, 1);
      if (violations.length > 0) expect.fail(`seed ${seed}:\n${trace.join("\n")}`);
      if (seed < CHECKED_BY_GIT && clone !== null) await checkByGit(clone.pack, clone.refs);
    }
  },
  240_000,
);

test("the same seed makes the same run, whatever ran before", async () => {
  const first = await simulate(7, 2);
  await simulate(8, 2);
  expect((await simulate(7, 2)).digest).toBe(first.digest);
  expect((await simulate(8, 2)).digest).not.toBe(first.digest);
});
