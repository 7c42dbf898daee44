import { expect, test } from "vitest";
import { encodeText } from "../../../src/base/format/byte-string.ts";
import { isPushableRefName } from "../../../src/base/format/ref-name.ts";
import { expectAsGit } from "./random-ref-names.ts";

test("agrees with git check-ref-format on random names", () => expectAsGit(50));

test.each([
  "refs/heads/main",
  "refs/heads/@",
  "refs/heads/-x",
  "refs/heads/HEAD",
  `refs/heads/${"a".repeat(40)}`,
  "refs/heads/\xff\xfe",
  encodeText("refs/heads/🎉"),
  "refs/heads/a.lock.b",
  `refs/heads/${"n".repeat(1_013)}`,
])("a push may name %j", (name) => {
  expect(isPushableRefName(name, false)).toBe(true);
});

test.each([
  "",
  "HEAD",
  "heads/main",
  "refs/main",
  "refs/@",
  "refs/heads/",
  "refs/heads/a..b",
  "refs/heads/.a",
  "refs/heads/a.lock",
  "refs/heads/a.lock/b",
  "refs/heads/a.",
  "refs/heads//a",
  "refs//heads/a",
  ...Array.from(" ~^:?*[\\\x00\x1f\x7f\n", (char) => `refs/heads/a${char}b`),
  "refs/heads/a@{b",
  `refs/heads/${"n".repeat(1_014)}`,
])("a push may not name %j", (name) => {
  expect(isPushableRefName(name, false)).toBe(false);
});

test("a ref of one level may be deleted, not written", () => {
  expect(isPushableRefName("refs/stash", true)).toBe(true);
  expect(isPushableRefName("refs/stash", false)).toBe(false);
  expect(isPushableRefName("stash", true)).toBe(false);
  expect(isPushableRefName("refs/@", true)).toBe(false);
});
