import { beforeAll, expect, test } from "vitest";
import { aheadBehind } from "../../../src/object/history/ahead-behind.ts";
import { mergeBase } from "../../../src/object/history/merge-base.ts";
import { git, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { makeTangledHistory, type TangledHistory } from "./tangled-history.ts";

let histories: TangledHistory[];

beforeAll(async () => {
  histories = await Promise.all([4, 12, 40].map((width, seed) => makeTangledHistory(seed, 120, width)));
});

test("merge bases are git's, and in its order", { tags: "sweep" }, async () => {
  const random = new Random(1);
  let several = 0;
  for (const { dir, oids, repository } of histories) {
    for (let round = 0; round < 25; round++) {
      const base = random.pick(oids);
      const heads = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => random.pick(oids));
      const { stdout } = await tryGit(dir, ["merge-base", "--all", base, ...heads]);
      const expected = stdout.split("\n").filter(Boolean);
      several += Number(expected.length > 1);
      expect(await mergeBase(repository, { base, heads })).toEqual({ base, heads, mergeBases: expected });
    }
  }
  expect(several).toBeGreaterThan(8);
});

test("ahead and behind are git's counts", async () => {
  const random = new Random(2);
  for (const { dir, oids, repository } of histories) {
    const { graph } = repository.tables;
    const position = (oid: string) => graph.position(repository.numberOf(Uint8Array.fromHex(oid)));
    const base = random.pick(oids);
    const tips = [base, ...Array.from({ length: 12 }, () => random.pick(oids))];
    const expected = [];
    for (const tip of tips) {
      const counts = await git(dir, "rev-list", "--left-right", "--count", `${tip}...${base}`);
      const [ahead, behind] = counts.split("\t").map(Number);
      expected.push({ ahead, behind });
    }
    expect(aheadBehind(graph, position(base), tips.map(position))).toEqual(expected);
  }
});

test("what is no commit has no merge base", async () => {
  const [{ repository }] = histories as [TangledHistory];
  const asked = (head: string) => mergeBase(repository, { base: "HEAD", heads: [head] });
  await expect(asked("HEAD^{tree}")).rejects.toMatchObject({ code: "wrong-type" });
  await expect(asked("nothing")).rejects.toMatchObject({ code: "not-found" });
});
