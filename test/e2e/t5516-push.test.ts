// Real git pushes to the real Worker. Named after git's t5516-fetch-push.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { git, listRefs, makeRepository, tryGit } from "../harness/git.ts";
import { makeHistory } from "../harness/history.ts";
import type { Server } from "../harness/server.ts";
import { shareServer } from "../harness/shared-server.ts";
import { makeTempDir } from "../harness/temp-dir.ts";
import { testSome } from "../harness/sweep.ts";

let server: Pick<Server, "url">;
let url: string;
let work: string;
let repositories = 0;
beforeAll(async () => {
  server = await shareServer("t5516");
});
beforeEach(async () => {
  url = `${server.url}/t5516/repo-${repositories++}.git`;
  work = await makeRepository("work");
  await commitFile("first");
});

/** Commits a file of this name; by default the name is its content. */
async function commitFile(name: string, content: string | Uint8Array = `${name}\n`): Promise<string> {
  writeFileSync(join(work, name), content);
  await git(work, "add", name);
  await git(work, "commit", "-q", "-m", `Add ${name}`);
  return git(work, "rev-parse", "HEAD");
}

/** The remote's refs as git lists them. */
async function remoteRefs(): Promise<string> {
  return (await git(work, "ls-remote", "--refs", url)).replaceAll("\t", " ");
}

/** Clones the remote and runs `git fsck` on it. */
async function checkedClone(): Promise<string> {
  const dir = join(makeTempDir("clone"), "clone.git");
  await git(work, "clone", "-q", "--mirror", url, dir);
  await git(dir, "fsck", "--full", "--strict");
  return dir;
}

/** Pushes and expects a refusal. @returns what git told its user */
async function refusedPush(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await tryGit(work, ["push", url, ...args]);
  expect(code, stderr).not.toBe(0);
  return stderr;
}

test("create, fast-forward, force and delete", async () => {
  await git(work, "push", "-q", url, "main", "main:topic");
  await commitFile("second");
  await git(work, "push", "-q", url, "main");
  await git(work, "commit", "-q", "--amend", "-m", "Amended");
  expect(await refusedPush("main")).toContain("[rejected]");
  await git(work, "push", "-q", "--force", url, "main");
  expect(await remoteRefs()).toContain(`${await git(work, "rev-parse", "HEAD")} refs/heads/main`);
  await git(work, "push", "-q", url, ":topic");
  expect(await remoteRefs()).not.toContain("topic");
  expect(await listRefs(await checkedClone())).toBe(await listRefs(work));
});

test("--force-with-lease is a compare-and-swap", async () => {
  await git(work, "push", "-q", url, "main");
  const stale = await git(work, "rev-parse", "main");
  await commitFile("second");
  await git(work, "push", "-q", url, "main");
  await git(work, "commit", "-q", "--amend", "-m", "Amended");
  expect(await refusedPush(`--force-with-lease=main:${stale}`, "main")).toContain("stale info");
});

test("tags: annotated, lightweight, nested, and on trees and blobs", async () => {
  await git(work, "tag", "light");
  await git(work, "tag", "-m", "annotated", "annotated");
  await git(work, "tag", "-m", "nested", "nested", "annotated");
  await git(work, "tag", "on-tree", "HEAD^{tree}");
  await git(work, "tag", "-m", "blob", "on-blob", "HEAD:first");
  await git(work, "push", "-q", url, "main", "--tags");
  expect(await listRefs(await checkedClone())).toBe(await listRefs(work));
  const peeled = await git(work, "ls-remote", url, "refs/tags/nested^{}");
  expect(peeled).toContain(await git(work, "rev-parse", "HEAD"));
});

test("--atomic: all refs or none", async () => {
  await git(work, "push", "-q", url, "main");
  await commitFile("second");
  await git(work, "branch", "other");
  const before = await remoteRefs();
  // The second destination would be a file where a directory is.
  const stderr = await refusedPush("--atomic", "main", "other:refs/heads/main/other");
  expect(stderr).toContain("refs/heads/main");
  expect(await remoteRefs()).toBe(before);
  await git(work, "push", "-q", "--atomic", url, "main", "other");
  expect((await remoteRefs()).split("\n")).toHaveLength(2);
});

test("a directory where a file is, and a file where a directory is", async () => {
  await git(work, "push", "-q", url, "main", "main:deep/branch");
  expect(await refusedPush("main:refs/heads/main/x")).toContain("[remote rejected]");
  expect(await refusedPush("main:refs/heads/deep")).toContain("[remote rejected]");
  await git(work, "push", "-q", url, ":deep/branch", "main:refs/heads/deep");
  expect(await remoteRefs()).toContain("refs/heads/deep");
});

test("push options pass", async () => {
  await git(work, "push", "-q", "-o", "ci.skip", "-o", "reviewer=ada", url, "main");
  expect(await remoteRefs()).toContain("refs/heads/main");
});

test("a push that changes nothing", async () => {
  await git(work, "push", "-q", url, "main");
  const { stderr } = await tryGit(work, ["push", url, "main"]);
  expect(stderr).toContain("Everything up-to-date");
});

test("the user sees progress and refusals", async () => {
  const { stderr } = await tryGit(work, ["push", "--progress", url, "main"]);
  expect(stderr).toMatch(/^remote: Receiving objects: 100% \(3\/3\), done\.\s*$/m);
  const tree = await git(work, "mktree");
  const { stdout } = await tryGit(work, ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"], {
    stdin: `tree ${tree}\nauthor Ada\ncommitter Ada <a@example.com> 1700000000 +0000\n\nBad\n`,
  });
  const refusal = await refusedPush(`${stdout.trim()}:refs/heads/bad`);
  expect(refusal).toContain(stdout.trim());
  expect(refusal).toContain("missingEmail");
});

const FIRST_BRANCHES: readonly (readonly [string[], head: string])[] = [
  [["topic", "main"], "refs/heads/main"],
  [["master", "alpha"], "refs/heads/master"],
  [["topic"], "refs/heads/topic"],
];

testSome(1, FIRST_BRANCHES, "HEAD of a first push of %s is %s, and stays", async ([branches, expected]) => {
  await git(work, "push", "-q", url, ...branches.map((branch) => `main:refs/heads/${branch}`));
  const head = async (): Promise<string> => git(work, "ls-remote", "--symref", url, "HEAD");
  expect(await head()).toContain(`ref: ${expected}\tHEAD`);
  await git(work, "push", "-q", url, "main:refs/heads/main", "main:refs/heads/master", "main:refs/heads/zeta");
  expect(await head()).toContain(`ref: ${expected}\tHEAD`);
});

test("a first push of tags alone sets no HEAD; the first branch does", async () => {
  await git(work, "push", "-q", url, "main:refs/tags/v1");
  await git(work, "push", "-q", url, "main:refs/heads/trunk");
  expect(await git(work, "ls-remote", "--symref", url, "HEAD")).toContain("ref: refs/heads/trunk\tHEAD");
});

test("a shallow clone pushes what it added", async () => {
  await commitFile("second");
  await commitFile("third");
  await git(work, "push", "-q", url, "main");
  const shallow = join(makeTempDir("shallow"), "shallow");
  await git(work, "clone", "-q", "--depth=1", `file://${work}`, shallow);
  writeFileSync(join(shallow, "fourth"), "fourth\n");
  await git(shallow, "add", ".");
  await git(shallow, "commit", "-q", "-m", "Fourth");
  await git(shallow, "push", "-q", url, "main");
  expect(await git(await checkedClone(), "rev-list", "--count", "main")).toBe("4");
});

test("a shallow clone whose history is not there is refused", async () => {
  await commitFile("second");
  const shallow = join(makeTempDir("shallow"), "shallow");
  await git(work, "clone", "-q", "--depth=1", `file://${work}`, shallow);
  const { code, stderr } = await tryGit(shallow, ["push", url, "main"]);
  expect(code, stderr).not.toBe(0);
  expect((await tryGit(work, ["ls-remote", url])).code).not.toBe(0);
});

test("a thin pack: a large file changes by a line", async () => {
  const lines = Array.from({ length: 5_000 }, () => randomBytes(20).toString("hex"));
  await commitFile("large", lines.join("\n"));
  await git(work, "push", "-q", url, "main");
  lines[2_500] = "changed";
  await commitFile("large", lines.join("\n"));
  await git(work, "push", "-q", url, "main");
  expect(await git(await checkedClone(), "rev-parse", "main")).toBe(await git(work, "rev-parse", "main"));
});

test("bodies in chunks: http.postBuffer smaller than the pack", async () => {
  await commitFile("noise", randomBytes(300_000));
  await git(work, "-c", "http.postBuffer=4096", "push", "-q", url, "main");
  expect(await listRefs(await checkedClone())).toBe(await listRefs(work));
});

test("a clone right after each push has it", { tags: "sweep" }, async () => {
  for (let round = 0; round < 5; round++) {
    const tip = await commitFile(`round-${round}`);
    await git(work, "push", "-q", url, "main");
    expect(await git(await checkedClone(), "rev-parse", "main")).toBe(tip);
  }
});

test("8 racing first pushes of one branch: exactly one wins", async () => {
  const tips = await Promise.all(
    Array.from({ length: 8 }, async (_, i) => {
      const tree = await git(work, "rev-parse", "HEAD^{tree}");
      return git(work, "commit-tree", tree, "-m", `Racer ${i}`);
    }),
  );
  const pushes = await Promise.all(tips.map((tip) => tryGit(work, ["push", url, `${tip}:refs/heads/main`])));
  const winners = pushes.flatMap(({ code }, i) => (code === 0 ? [tips[i]] : []));
  expect(winners).toHaveLength(1);
  expect(await remoteRefs()).toBe(`${winners[0]} refs/heads/main`);
  await checkedClone();
});

test("50 racing pushes to different branches: all win", { tags: "sweep" }, async () => {
  await git(work, "push", "-q", url, "main");
  const tree = await git(work, "rev-parse", "HEAD^{tree}");
  const tips: string[] = [];
  for (let i = 0; i < 50; i++) tips.push(await git(work, "commit-tree", tree, "-p", "main", "-m", `Racer ${i}`));
  const pushes = await Promise.all(tips.map((tip, i) => tryGit(work, ["push", url, `${tip}:refs/heads/race-${i}`])));
  expect(pushes.filter(({ code }) => code !== 0)).toEqual([]);
  const expected = tips.map((tip, i) => `${tip} refs/heads/race-${i}`);
  expect((await remoteRefs()).split("\n")).toEqual(expect.arrayContaining(expected));
  await checkedClone();
});

test.each([8, 18])("a blob of %i MB", { tags: "sweep" }, async (megabytes) => {
  // Random bytes do not compress: trying would take most of this test's time.
  await git(work, "config", "core.compression", "0");
  await commitFile("blob", randomBytes(megabytes * 1_000_000));
  await git(work, "push", "-q", url, "main");
  expect(await listRefs(await checkedClone())).toBe(await listRefs(work));
});

testSome(1, [19, 500], "%i refs in one push", async (count) => {
  const tip = await git(work, "rev-parse", "HEAD");
  const stdin = Array.from({ length: count }, (_, i) => `create refs/heads/branch-${i} ${tip}\n`).join("");
  expect((await tryGit(work, ["update-ref", "--stdin"], { stdin })).code).toBe(0);
  await git(work, "push", "-q", "--mirror", url);
  expect(await remoteRefs()).toBe(await listRefs(work));
});

test("a history with merges, branches and tags; then half of its branches go", async () => {
  const history = await makeHistory({ commits: 300, files: 60, branches: 12, merges: 8, tags: 10 });
  await git(history, "push", "-q", "--mirror", url);
  expect(await listRefs(await checkedClone())).toBe(await listRefs(history));
  for (let i = 0; i < 12; i += 2) await git(history, "branch", "-q", "-D", `side-${i}`);
  await git(history, "push", "-q", "--mirror", url);
  expect(await listRefs(await checkedClone())).toBe(await listRefs(history));
});

test("the current branch cannot be deleted", async () => {
  await git(work, "push", "-q", url, "main", "main:topic");
  expect(await refusedPush(":main")).toContain("deletion of the current branch prohibited");
  expect(await remoteRefs()).toContain("refs/heads/main");
});
