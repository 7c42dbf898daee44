import { expect, test } from "vitest";
import { encodeText } from "../../../src/base/format/byte-string.ts";
import { worktreeFileKey } from "../../../src/object/worktree/file-key.ts";

const keyOf = (branch: string, path: string): string => worktreeFileKey("id", branch, path);
const HASHED = /^id\/worktrees\/[^/]*%\/[0-9a-f]{40}$/;

test("a file's key is what one would look for", () => {
  expect(keyOf("main", "src/a b.ts")).toBe("id/worktrees/main/src/a b.ts");
  expect(keyOf("main", "100%.txt")).toBe("id/worktrees/main/100%.txt");
  expect(keyOf("main", ".gitignore")).toBe("id/worktrees/main/.gitignore");
  expect(keyOf("main", "a..b/...")).toBe("id/worktrees/main/a..b/...");
  expect(keyOf("main", encodeText("é/日本"))).toBe("id/worktrees/main/é/日本");
  expect(keyOf("feature/x", "a")).toBe("id/worktrees/feature%2Fx/a");
  expect(keyOf(encodeText("ä%"), "a")).toBe("id/worktrees/%C3%A4%25/a");
});

test("branches that follow one another at a name, and odd names, share no key", () => {
  const branches = ["a", "a/b", "a%2Fb", "a%", "a%%", "b".repeat(255), "b".repeat(256), "%".repeat(300)];
  const paths = [
    "c",
    "b/c",
    "%/c",
    encodeText("é"),
    encodeText("e\u0301"),
    "\xe9",
    "x".repeat(2_000),
    "y".repeat(2_000),
  ];
  const keys = branches.flatMap((branch) => paths.map((path) => keyOf(branch, path)));
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1_024);
});

test.each([
  ["is not UTF-8", "caf\xe9"],
  ["is not in the bucket's normal form", encodeText("e\u0301")],
  ["holds a control character", "a\nb"],
  ["holds a control character of two bytes", encodeText("a\u0085")],
  ["holds a backslash", "a\\b"],
  ["has a component ..", "a/../b"],
  ["has a component .", "./b"],
  ["has an empty component", "a//b"],
  ["is too long", "a".repeat(1_024)],
])("a path that %s is known by its hash", (_, path) => {
  expect(keyOf("main", path)).toMatch(HASHED);
});

test("a key may be as long as keys may be", () => {
  const room = 1_024 - "id/worktrees/main/".length;
  expect(keyOf("main", "a".repeat(room))).toBe(`id/worktrees/main/${"a".repeat(room)}`);
  expect(keyOf("main", "a".repeat(room + 1))).toMatch(HASHED);
  expect(keyOf("main", encodeText("é").repeat(room / 2))).not.toMatch(HASHED);
  expect(keyOf("main", `${encodeText("é").repeat(room / 2)}a`)).toMatch(HASHED);
});
