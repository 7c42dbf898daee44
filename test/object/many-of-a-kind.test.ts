// Many items of a kind, where a few are usual: they must not be searched once for each item.
// `many-of-a-kind.sweep.test.ts` pushes as many as fit.
import { expect, test } from "vitest";
import { OpenRepository } from "../../src/object/objects/open-repository.ts";
import { resolve } from "../../src/object/objects/revision.ts";
import { git, makeRepository, tryGit } from "../harness/git.ts";
import { makeCommit, type MadeObject, makeTag, makeTree } from "../harness/pack-builder.ts";
import { measureCpu } from "../harness/measure-cpu.ts";
import { ANYONE } from "../harness/requester.ts";
import { CLONE_REQUEST, plannedPack } from "./clone-request.ts";
import { BLOB, pushMany, TREE } from "./many-objects.ts";
import { PushedRepository } from "./pushing.ts";
import { fromHex } from "./stored-repository.ts";

test("8,000 tags of each other, a ref at each", { tags: "sweep" }, async () => {
  const repository = new PushedRepository();
  const commit = makeCommit(TREE);
  const tags: MadeObject[] = [];
  for (let i = 0; i < 8_000; i++) tags.push(makeTag(tags.at(-1) ?? commit, i === 0 ? "commit" : "tag", `t${i}`));
  const refs = Object.fromEntries(tags.map((tag, i) => [`refs/tags/t${i}`, tag]));
  const [, pushMs] = await measureCpu(() =>
    pushMany(repository, { ...refs, "refs/heads/main": commit }, [BLOB, TREE, commit, ...tags]),
  );
  const wants = fromHex(tags.map(({ oid }) => oid).join(""));
  for (const request of [{ wants }, { wants: fromHex(commit.oid), includeTag: true }]) {
    const [outcome, ms] = await measureCpu(() => repository.repository.fetch({ ...CLONE_REQUEST, ...request }));
    expect(plannedPack(outcome).objectCount).toBe(8_003);
    expect(ms).toBeLessThan(3_000);
  }
  const opened = new OpenRepository(repository.repository.state, ANYONE, async () => undefined);
  expect(await resolve(opened, "t7999")).toEqual({
    oid: tags.at(-1)!.oid,
    type: "tag",
    commit: commit.oid,
  });
  expect(pushMs).toBeLessThan(20_000);
});

test("a stored tree of 1,600 levels that a push brings back", { tags: "sweep" }, async () => {
  const repository = new PushedRepository();
  const levels = [makeTree(["100644", "file", BLOB])];
  for (let i = 0; i < 1_600; i++) levels.push(makeTree(["40000", "d", levels.at(-1)!]));
  const first = makeCommit(levels.at(-1)!);
  await pushMany(repository, { "refs/heads/main": first }, [BLOB, ...levels, first]);
  const again = makeCommit(makeTree(["40000", "e", levels.at(-1)!]));
  const root = makeTree(["40000", "e", levels.at(-1)!]);
  let transactions = 0;
  const { platform } = repository.repository.state;
  const transactor = platform.transactor;
  Object.assign(platform, {
    transactor: {
      transactionSync: <T>(f: () => T): T => {
        transactions += 1;
        return transactor.transactionSync(f);
      },
    },
  });
  await pushMany(repository, { "refs/heads/again": again }, [root, again]);
  // Formerly one for each level.
  expect(transactions).toBeLessThan(20);
  const [pack] = [await repository.clone(again.oid)];
  const dir = await makeRepository("deep.git", "--bare");
  expect((await tryGit(dir, ["index-pack", "--stdin"], { stdin: pack })).stderr).toBe("");
  expect(await git(dir, "cat-file", "-t", levels[0]!.oid)).toBe("tree");
});
