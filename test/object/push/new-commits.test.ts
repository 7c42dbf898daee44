/** What a policy is told of a push before it is applied, beside what git says of it. */
import { expect, onTestFinished, test, vi } from "vitest";
import type { PolicyAnswer, PolicyQuestion } from "../../../src/object/push/ask-policy.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { makeHistory } from "../../harness/history.ts";
import { makeCommit, makeObject, makeTree, packOf } from "../../harness/pack-builder.ts";
import { Random } from "../../harness/random.ts";
import { PushedRepository } from "../pushing.ts";

/** A repository whose policy answers so, and what it was asked. */
function open(answer: (question: PolicyQuestion) => PolicyAnswer = () => ({ allow: true })) {
  const asked: PolicyQuestion[] = [];
  const askPolicy = async (body: string): Promise<Response> => {
    const question = JSON.parse(body) as PolicyQuestion;
    asked.push(question);
    return Response.json(answer(question));
  };
  const repository = new PushedRepository({ outside: { askPolicy } });
  const shown = () => asked.filter(({ stage }) => stage === "commits").at(-1)!.changes;
  return { repository, asked, shown };
}

/** What git says that these commits changed, in the form of the question. */
async function describeByGit(dir: string, oids: readonly string[]): Promise<object[]> {
  const described: object[] = [];
  for (const oid of oids) {
    const format = "%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B";
    const [tree, parents, an, ae, ad, cn, ce, cd, message] = (
      await git(dir, "show", "-s", `--format=${format}`, oid)
    ).split("\0");
    const before = parents === "" ? "4b825dc642cb6eb9a060e54bf8d69288fbee4904" : `${oid}^1`;
    const raw = await git(dir, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--abbrev=40", before, oid);
    const parts = raw.split("\0");
    const files: object[] = [];
    for (let i = 0; i + 1 < parts.length; i += 2) {
      const [, mode, , next, letter] = parts[i]!.split(" ");
      const status = { A: "added", D: "deleted", M: "modified", T: "type-changed" }[letter!];
      const isGone = letter === "D";
      const size = isGone || mode === "160000" ? null : Number(await git(dir, "cat-file", "-s", next!));
      files.push({ path: parts[i + 1], status, mode: isGone ? null : mode, oid: isGone ? null : next, size });
    }
    described.push({
      oid,
      tree,
      parents: parents === "" ? [] : parents!.split(" "),
      author: { name: an, email: ae, date: ad },
      committer: { name: cn, email: ce, date: cd },
      message: expect.stringContaining(message!.trimEnd()),
      files,
    });
  }
  return described;
}

const revList = async (dir: string, ...args: readonly string[]): Promise<string[]> =>
  (await git(dir, "rev-list", "--date-order", ...args)).split("\n").filter((line) => line !== "");

test(
  "the new commits of each ref are told as git lists them, with their files and sizes",
  { tags: "sweep" },
  async () => {
    const dir = await makeHistory({ commits: 60, files: 20, branches: 4, merges: 3, tags: 4, upheavals: 8 });
    const { repository, shown, asked } = open();
    const middle = "main~20";
    await repository.pushFrom(dir, { "refs/heads/main": middle });
    expect(asked.map(({ stage }) => stage)).toEqual(["names", "commits"]);
    const [first] = shown();
    expect(first).toMatchObject({ ref: "refs/heads/main", old: null, complete: true });
    expect(first!.commits!.map(({ oid }) => oid).toSorted()).toEqual((await revList(dir, middle)).toSorted());
    // A thin pack, whose deltas rest on what is stored.
    await repository.pushFrom(dir, {
      "refs/heads/main": "main",
      "refs/heads/side": "side-3",
      "refs/tags/v3": "v3",
      "refs/heads/old": "main~30",
    });
    for (const change of shown()) {
      const wanted = await revList(dir, change.new!, "--not", middle);
      expect(change.complete).toBe(true);
      expect(change.commits!.map(({ oid }) => oid).toSorted()).toEqual(wanted.toSorted());
      expect(change.commits).toEqual(
        await describeByGit(
          dir,
          change.commits!.map(({ oid }) => oid),
        ),
      );
    }
    expect(shown().find(({ ref }) => ref === "refs/heads/old")).toMatchObject({ commits: [], complete: true });
    await repository.pushFrom(dir, { "refs/heads/side": null });
    expect(shown()).toEqual([
      { ref: "refs/heads/side", old: expect.any(String), new: null, commits: [], complete: true },
    ]);
  },
);

test("a pack that goes to R2 is told like one that does not", { tags: "sweep" }, async () => {
  const dir = await makeRepository("large");
  for (const [i, size] of [3_000_000, 2_500_000, 10].entries()) {
    const { stdout } = await tryGit(dir, ["hash-object", "-w", "--stdin"], {
      stdin: Buffer.from(new Random(i).bytes(size)),
    });
    await git(dir, "update-index", "--add", "--cacheinfo", `100644,${stdout.trim()},deep/er/file-${i}`);
    await git(dir, "commit", "-q", "-m", `size ${size}`);
  }
  const { repository, shown } = open();
  await repository.pushFrom(dir, { "refs/heads/main": "HEAD" });
  const { commits = [], complete } = shown()[0]!;
  expect(complete).toBe(true);
  expect(commits).toEqual(
    await describeByGit(
      dir,
      commits.map(({ oid }) => oid),
    ),
  );
  expect(commits.flatMap(({ files }) => files.map(({ size }) => size))).toEqual([10, 2_500_000, 3_000_000]);
});

test("what was stored for a denied ref is told again when it comes without objects", async () => {
  const dir = await makeHistory({ commits: 5, files: 3 });
  const { repository, shown } = open(({ stage }) =>
    stage === "commits" ? { allow: false, refs: { "refs/heads/not": "no" } } : { allow: true },
  );
  const { refs } = await repository.pushFrom(dir, { "refs/heads/yes": "main~3", "refs/heads/not": "main" });
  expect(refs).toEqual([
    { name: "refs/heads/yes", error: null },
    { name: "refs/heads/not", error: "policy: no" },
  ]);
  const main = await git(dir, "rev-parse", "main");
  await repository.push([["refs/heads/not", null, main]], null);
  expect(shown()[0]!.commits!.map(({ oid }) => oid)).toEqual(await revList(dir, "main", "--not", "main~3"));
  expect(repository.refs().has("refs/heads/not")).toBe(false);
});

test("what is more than may be told is said to be incomplete", { tags: "sweep" }, async () => {
  // Telling has a limit of time, too, which a busy machine meets sooner.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  const dir = await makeHistory({ commits: 520, files: 2 });
  const { repository, shown } = open();
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  expect(shown()[0]!.complete).toBe(false);
  expect(shown()[0]!.commits!.length).toBe(500);

  const wide = makeTree(
    ...Array.from(
      { length: 6_000 },
      (_, i) => ["100644", `file-${1_000_000 + i}`, makeObject("blob", `${i % 7}`)] as const,
    ),
  );
  const commit = makeCommit(wide);
  const blobs = Array.from({ length: 7 }, (_, i) => makeObject("blob", `${i}`));
  await repository.push([["refs/heads/wide", null, commit.oid]], packOf(...blobs, wide, commit));
  expect(shown()).toMatchObject([{ commits: [], complete: false }]);

  const long = makeCommit(wide, [], `${"long ".repeat(900_000)}\n`);
  await repository.push([["refs/heads/long", null, long.oid]], packOf(long));
  expect(shown()).toMatchObject([{ commits: [], complete: false }]);

  // A ref that points at a blob brings what no commit tells.
  const blob = makeObject("blob", "alone");
  await repository.push([["refs/tags/blob", null, blob.oid]], packOf(blob));
  expect(shown()).toMatchObject([{ commits: [], complete: false }]);
});

test("a policy that needs no commits is not asked for them", async () => {
  const dir = await makeHistory({ commits: 3, files: 2 });
  const { repository, asked } = open(() => ({ allow: true, final: true }));
  await repository.pushFrom(dir, { "refs/heads/main": "main" });
  expect(asked.map(({ stage }) => stage)).toEqual(["names"]);
  expect(repository.refs().has("refs/heads/main")).toBe(true);
});
