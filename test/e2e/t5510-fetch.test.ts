import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import { countMissing, countReceived } from "../harness/received-pack.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { describeSome, testSome } from "../harness/sweep.ts";
import { expectManyRefs } from "./fetched-refs.ts";

let server: Pick<Server, "url">;
beforeAll(async () => {
  server = await shareServer("t5510");
});

let remotes = 0;

/** The URL of a repository that does not exist yet. */
function newRemote(): string {
  return `${server.url}/t5510/fetch-${++remotes}.git`;
}

async function clone(url: string, ...options: readonly string[]): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone");
  await git(makeTempDir("cwd"), ...options, "clone", "-q", url, dir);
  return dir;
}

/** Commits a change to a file.
 * @returns the commit's id */
async function commit(dir: string, path: string, content: string): Promise<string> {
  writeFileSync(join(dir, path), content);
  await git(dir, "add", path);
  await git(dir, "commit", "-q", "-m", `${path}: ${content.slice(0, 20)}`);
  return git(dir, "rev-parse", "HEAD");
}

testSome(1, [2, 0, 1], "a mirror clone by protocol v%i is identical", async (version) => {
  const origin = await makeHistory({ commits: 80, files: 40, branches: 5, merges: 3, tags: 8 });
  const url = newRemote();
  await git(origin, "push", "-q", "--mirror", url);
  const mirror = join(makeTempDir("clone"), "clone.git");
  await git(makeTempDir("cwd"), "-c", `protocol.version=${version}`, "clone", "-q", "--mirror", url, mirror);
  expect(await listRefs(mirror)).toBe(await listRefs(origin));
  expect(await git(mirror, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
  expect(await git(mirror, "fsck", "--full")).toBe("");
});

describeSome(1, [2, 0], "protocol v%i", (version) => {
  const protocol = ["-c", `protocol.version=${version}`] as const;
  /** Three commits on `main`, beyond a tag `old`. */
  let grown: string;
  beforeAll(async () => {
    grown = await makeRepository("grown");
    await commit(grown, "a", "1");
    await commit(grown, "b", "1");
    await git(grown, "tag", "old");
    for (const content of ["2", "3", "4"]) await commit(grown, "a", content);
  });

  testSome(
    2,
    [16, 60, 15, 17, 500],
    "a clone that is %i commits ahead fetches what is new, and no more",
    async (ahead) => {
      const url = newRemote();
      await git(grown, "push", "-q", url, "old:refs/heads/main");
      const reader = await clone(url);
      const stream = Array.from(
        { length: ahead },
        (_, i) =>
          `commit refs/heads/main\ncommitter A <a@example.com> ${1_700_001_000 + i} +0000\ndata 1\nx\n${i === 0 ? "from refs/heads/main^0\n" : ""}M 100644 inline local\ndata <<E\n${i}\nE\n\n`,
      );
      expect((await tryGit(reader, ["fast-import", "--quiet"], { stdin: stream.join("") })).code).toBe(0);
      await git(grown, "push", "-q", url, "main");
      expect(await countReceived(reader, ...protocol, "fetch", "-q", "origin")).toBe(
        await countMissing(grown, ["main"], ["old"]),
      );
      expect(await git(reader, "rev-parse", "origin/main")).toBe(await git(grown, "rev-parse", "main"));
      await git(reader, "fsck", "--full");
    },
  );

  test(
    "merges, reverts, cherry-picks and force pushes: what is there is not sent again",
    { tags: "sweep" },
    async () => {
      const url = newRemote();
      const writer = await makeRepository("writer");
      for (const path of ["a", "b", "c", "d"]) await commit(writer, path, `${path}\n`.repeat(50));
      await git(writer, "push", "-q", url, "main");
      const reader = await clone(url);
      let before = await git(writer, "rev-parse", "main");
      const fetchStep = async (): Promise<void> => {
        await git(writer, "push", "-q", "--force", url, "main");
        const expected = await countMissing(writer, ["main"], [before]);
        expect(await countReceived(reader, ...protocol, "fetch", "-q", "origin")).toBe(expected);
        before = await git(writer, "rev-parse", "main");
        expect(await git(reader, "rev-parse", "origin/main")).toBe(before);
      };
      await git(writer, "switch", "-q", "-c", "side", "main~1");
      const picked = await commit(writer, "e", "e\n".repeat(40));
      await commit(writer, "a", "side\n".repeat(40));
      await git(writer, "switch", "-q", "main");
      await commit(writer, "b", "main\n".repeat(40));
      await fetchStep();
      await git(writer, "cherry-pick", picked);
      await fetchStep();
      await git(writer, "merge", "-q", "-m", "merge", "side");
      await fetchStep();
      await git(writer, "revert", "--no-edit", "HEAD~1");
      await fetchStep();
      await git(writer, "revert", "--no-edit", "HEAD");
      await fetchStep();
      await git(writer, "reset", "-q", "--hard", "main~2");
      await commit(writer, "c", "forced\n".repeat(40));
      await fetchStep();
      await git(reader, "fsck", "--full");
      const fresh = await clone(url);
      expect(await git(fresh, "rev-parse", "HEAD^{tree}")).toBe(await git(writer, "rev-parse", "main^{tree}"));
    },
  );

  test("tags come along with what they point at", async () => {
    const url = newRemote();
    const writer = await makeRepository("writer");
    await commit(writer, "a", "1");
    await git(writer, "push", "-q", url, "main");
    const reader = await clone(url);
    await commit(writer, "a", "2");
    await git(writer, "tag", "-a", "-m", "inner", "inner");
    await git(writer, "tag", "-a", "-m", "outer", "outer", "inner");
    await git(writer, "tag", "light");
    await commit(writer, "a", "3");
    await git(writer, "push", "-q", "--tags", url, "main");
    // Commit, tree and blob of two commits, and both tags, in one fetch.
    expect(await countReceived(reader, ...protocol, "fetch", "-q", "origin")).toBe(8);
    expect(await git(reader, "tag")).toBe("inner\nlight\nouter");
    expect(await git(reader, "rev-parse", "outer")).toBe(await git(writer, "rev-parse", "outer"));
    await git(reader, "fsck", "--full");
  });

  test("tags of blobs and trees", async () => {
    const url = newRemote();
    const writer = await makeRepository("writer");
    await commit(writer, "a", "1");
    const { stdout: blob } = await tryGit(writer, ["hash-object", "-w", "--stdin"], { stdin: "on its own" });
    await git(writer, "tag", "-a", "-m", "blob", "of-blob", blob.trim());
    await git(writer, "tag", "blob", blob.trim());
    await git(writer, "tag", "-a", "-m", "tree", "of-tree", "main^{tree}");
    await git(writer, "push", "-q", "--tags", url, "main");
    const reader = await clone(url, ...protocol);
    expect(await git(reader, "cat-file", "blob", "of-blob^{blob}")).toBe("on its own");
    expect(await git(reader, "rev-parse", "of-tree", "blob")).toBe(await git(writer, "rev-parse", "of-tree", "blob"));
    await git(reader, "fsck", "--full");
  });
});

test("a pull right after a push sees it", { tags: "sweep" }, async () => {
  const url = newRemote();
  const writer = await makeRepository("writer");
  await commit(writer, "a", "0");
  await git(writer, "push", "-q", url, "main");
  const reader = await clone(url);
  for (let i = 1; i <= 10; i++) {
    const pushed = await commit(writer, "a", String(i));
    await git(writer, "push", "-q", url, "main");
    await git(reader, "pull", "-q", "--ff-only");
    expect(await git(reader, "rev-parse", "HEAD")).toBe(pushed);
  }
});

testSome(1, [19, 3_000], "%i refs", (count) => expectManyRefs(newRemote(), count));

test("an unknown repository cannot be cloned", async () => {
  const { code, stderr } = await tryGit(makeTempDir("cwd"), ["clone", newRemote(), "clone"]);
  expect(code).toBe(128);
  expect(stderr).toContain("not found");
});
