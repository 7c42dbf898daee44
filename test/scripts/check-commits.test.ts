import { cpSync, mkdirSync } from "node:fs";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { PROJECT } from "../harness/build.ts";
import { git } from "../harness/git.ts";
import { makeTempDir } from "../harness/temp-dir.ts";

const CHECK = "scripts/check-commits.sh";

let dir: string;

/** A repository whose second commit brings the check. */
beforeEach(async () => {
  dir = makeTempDir("commits");
  await git(dir, "init", "-q", "-b", "main");
  await commit("Before the check, a subject may be anything");
  mkdirSync(join(dir, "scripts"));
  cpSync(join(PROJECT, CHECK), join(dir, CHECK));
  await git(dir, "add", CHECK);
  await commit("The check itself");
});

async function commit(subject: string): Promise<void> {
  await git(dir, "commit", "-q", "--allow-empty", "-m", subject, "-m", "The reason, in the body.");
}

function check(at = dir): Promise<{ status: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile("bash", [join(at, CHECK)], (error, _, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stderr }),
    );
  });
}

test("subjects with an area, within 72 characters, pass", async () => {
  await commit("push: refuse a pack whose index would not fit");
  await commit(`docs/storage.md: ${"a".repeat(55)}`);
  expect(await check()).toEqual({ status: 0, stderr: "" });
});

test.each([
  ["without an area", "Refuse a pack whose index would not fit"],
  ["that begins in capitals", "push: Refuse a pack"],
  ["of 73 characters", `push: ${"a".repeat(67)}`],
])("a subject %s is named", async (_, subject) => {
  await commit("push: refuse a pack");
  await commit(subject);
  const { status, stderr } = await check();
  expect(status).toBe(1);
  expect(stderr.trimEnd().split("\n").slice(1)).toEqual([expect.stringMatching(new RegExp(`^\\w{7,} ${subject}$`))]);
});

test("a shallow clone is told that it cannot be checked", async () => {
  await commit("push: refuse a pack");
  const clone = join(makeTempDir("shallow"), "clone");
  await git(dir, "clone", "-q", "--depth", "1", `file://${dir}`, clone);
  const { status, stderr } = await check(clone);
  expect(status).toBe(1);
  expect(stderr).toContain("shallow clone");
});
