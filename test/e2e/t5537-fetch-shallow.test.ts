import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readClone } from "../harness/clone-contents.ts";
import { git, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { type ServedPair, servePair } from "../harness/served-pair.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { testSome } from "../harness/sweep.ts";

let served: ServedPair;
const names: Record<string, string> = {};
beforeAll(async () => {
  const origin = await makeHistory({ commits: 60, files: 30, branches: 4, merges: 3, tags: 6 });
  served = await servePair("t5537", origin, ["uploadpack.allowAnySHA1InWant"]);
  for (const name of ["main~5", "main~12"]) names[name] = await git(origin, "rev-parse", name);
  names["DATE"] = await git(origin, "log", "-1", "--format=%ct", "main~7");
});
afterAll(() => served.close());

/** Clones with the first command and runs the others in the clone.
 * @returns its path */
async function run(url: string, version: number, commands: readonly string[]): Promise<string> {
  const clone = join(makeTempDir("clone"), "clone");
  const [first = "", ...others] = commands.map((command) =>
    command.replaceAll(/\{(.*?)\}/g, (_, name: string) => names[name]!),
  );
  const settings = ["-c", `protocol.version=${version}`];
  await git(makeTempDir("cwd"), ...settings, "clone", "-q", ...first.split(" ").filter(Boolean), url, clone);
  for (const command of others) await git(clone, ...settings, ...command.split(" "));
  return clone;
}

const SCENARIOS: [string, string[]][] = [
  ["three commits of every branch", ["--depth=3 --no-single-branch"]],
  ["some commits more", ["--depth=2", "fetch -q --deepen=3"]],
  ["one commit by its id", ["--depth=1", "fetch -q --depth=1 origin {main~12}:refs/heads/old"]],
  ["the whole history after all", ["--depth=2", "fetch -q --unshallow"]],
  ["commits since a date", ["--shallow-since=@{DATE}"]],
  [
    "a branch beyond a shallow commit that lies between it and what the client has",
    ["--branch=side-2 --single-branch", "fetch -q --depth=1 origin {main~12}:near", "fetch -q origin main:main"],
  ],
  ["the last commit", ["--depth=1"]],
  ["one branch, two commits", ["--depth=2 --branch=side-3"]],
  ["a bare mirror", ["--depth=2 --mirror"]],
  ["more depth than there is", ["--depth=1000"]],
  ["commits that are not in a tag", ["--shallow-exclude=v0"]],
  ["another depth", ["--depth=1", "fetch -q --depth=5"]],
  ["less depth", ["--depth=5", "fetch -q --depth=2"]],
  ["a date after a depth", ["--depth=2", "fetch -q --shallow-since=@{DATE}"]],
  ["a tag after a depth", ["--depth=1", "fetch -q --shallow-exclude=v1"]],
  ["another branch, as deep as history is", ["--depth=2", "fetch -q origin side-3:side-3"]],
  ["another branch, one commit of it", ["--depth=2", "fetch -q --depth=1 origin side-3:side-3"]],
  [
    "a branch beyond a shallow commit that no ref names any more",
    [
      "--branch=side-2 --single-branch",
      "fetch -q --no-tags --depth=1 origin {main~12}:near",
      "update-ref -d refs/heads/near",
      "fetch -q origin main:main",
    ],
  ],
  [
    "a depth that ends above a shallow commit, which lies above what the client has",
    [
      "--branch=side-2 --single-branch",
      "fetch -q --depth=1 origin {main~12}:near",
      "fetch -q --depth=5 origin main:main",
    ],
  ],
  [
    "some commits more of a branch and of another that is not fetched again",
    ["--depth=2 --branch=main", "fetch -q --depth=1 origin side-3:other", "fetch -q --deepen=3 origin main"],
  ],
  [
    "a commit by its id, with its history",
    ["--branch=side-0 --single-branch", "fetch -q origin {main~5}:refs/heads/old"],
  ],
];

describe.each([0, 2])("by protocol v%i", (version) => {
  testSome(version === 2 ? 6 : 2, SCENARIOS, "%s", async ([, commands]) => {
    const [ours, gits] = await Promise.all(
      [served.holdfast, served.native].map(async (url) => readClone(await run(url, version, commands))),
    );
    expect(ours).toEqual(gits);
    expect(ours!.fsck).toBe("");
  });

  test("a date that leaves nothing is refused", async () => {
    const clone = ["clone", "--shallow-since=@4000000000", served.holdfast, "clone"];
    const { code, stderr } = await tryGit(makeTempDir("cwd"), ["-c", `protocol.version=${version}`, ...clone]);
    expect(code).toBe(128);
    expect(stderr).toContain("no commits selected for shallow requests");
  });
});

test("a depth and a ref wanted by name, all on bands", async () => {
  const clone = await run(served.holdfast, 2, ["--depth=1"]);
  const { code, stderr } = await tryGit(clone, ["fetch", "--depth=2", "origin", "refs/heads/side-3:side-3"], {
    env: { GIT_TRACE_PACKET: "1", GIT_TEST_SIDEBAND_ALL: "1" },
  });
  expect(code).toBe(0);
  for (const line of ["> want-ref refs/heads/side-3", "> sideband-all", "\\1shallow-info", "\\1wanted-refs"]) {
    expect(stderr).toContain(line);
  }
  expect(await git(clone, "rev-list", "--count", "side-3")).toBe("2");
});

// The last test: its push adds a branch to what the others compare.
testSome(1, [2, 0], "a push from a shallow clone, by protocol v%i", async (version) => {
  const clone = await run(served.holdfast, version, ["--depth=1"]);
  writeFileSync(join(clone, `added-${version}`), "added\n");
  await git(clone, "add", ".");
  await git(clone, "commit", "-q", "-m", "Add");
  await git(clone, "push", "-q", "origin", `HEAD:refs/heads/added-${version}`);
  const { fsck, shallow } = await readClone(await run(served.holdfast, version, [`--branch=added-${version}`]));
  expect({ fsck, shallow }).toEqual({ fsck: "", shallow: [] });
});
