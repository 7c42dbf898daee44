import { expect, test } from "vitest";
import { GitError, isGitError } from "../../../src/base/format/errors.ts";

test("says in words what the code and the data mean", () => {
  const message = (error: GitError): string => error.message;
  expect(message(new GitError("too-large", { what: "the pack", limit: 10, actual: 11 }))).toBe(
    "the pack exceeds the limit of 10 (it is 11)",
  );
  expect(message(new GitError("bad-object", { oid: "ab", id: "hasDotgit" }))).toBe("object ab fails fsck: hasDotgit");
  expect(message(new GitError("missing-object", { type: "tree", oid: "ab" }))).toBe("the tree ab is missing");
  expect(message(new GitError("corrupt-pack"))).toBe("the pack is corrupt");
  expect(message(new GitError("corrupt-pack", { reason: "wrong trailer" }))).toBe("the pack is corrupt: wrong trailer");
});

test("keeps code, data and cause", () => {
  const cause = new Error("reset");
  const error = new GitError("storage-failed", { key: "r/chunks/1" }, { cause });
  expect(error).toMatchObject({ name: "GitError", code: "storage-failed", data: { key: "r/chunks/1" }, cause });
});

test("is told from other errors, by code where one is asked for", () => {
  expect(isGitError(new GitError("timeout"))).toBe(true);
  expect(isGitError(new GitError("timeout"), "timeout")).toBe(true);
  expect(isGitError(new GitError("timeout"), "unavailable")).toBe(false);
  expect(isGitError(new Error("timeout"))).toBe(false);
});
