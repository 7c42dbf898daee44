import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { encodeText, fromByteString } from "../../src/format/byte-string.ts";
import { isPushableRefName, isRefName } from "../../src/format/ref-name.ts";
import { gitEnv } from "../harness/git.ts";
import { Random } from "../harness/random.ts";

/** Asks git about each name. Names go in by NUL-separated bytes: an argument of spawn must be text. */
function checkWithGit(names: readonly string[], ...options: readonly string[]): boolean[] {
  const script = `while IFS= read -r -d '' name; do git check-ref-format ${options.join(" ")} "$name" && echo y || echo n; done`;
  const input = fromByteString(names.map((name) => `${name}\0`).join(""));
  const { stdout } = spawnSync("bash", ["-c", script], { input, env: gitEnv(), encoding: "utf8" });
  return stdout
    .trimEnd()
    .split("\n")
    .map((answer) => answer === "y");
}

const PIECES = ["a", "b", ".", "..", "/", "//", "@", "{", "@{", "}", ".lock", "lock", "LOCK", "-", "~", "^", ":", "?"];
const RARE_PIECES = [
  "*",
  "[",
  "]",
  "\\",
  " ",
  "\t",
  "\n",
  "\x01",
  "\x1f",
  "\x7f",
  "\x80",
  "\xff",
  "\xc3\xa9",
  "!",
  '"',
  "$",
];

function makeName(random: Random): string {
  const length = random.below(6);
  return Array.from({ length }, () => random.pick(random.below(4) === 0 ? RARE_PIECES : PIECES)).join("");
}

test("agrees with git check-ref-format on random names", () => {
  const random = new Random(4);
  const names = Array.from({ length: 2_000 }, () => `${random.pick(["", "", "x/"])}${makeName(random)}`).filter(
    (name) => !name.startsWith("-"), // git would take it for an option
  );
  const twoLevel = names.map((name) => `refs/${name}`);
  expect(wrongs(twoLevel, checkWithGit(twoLevel), false)).toEqual([]);
  expect(wrongs(names, checkWithGit(names, "--allow-onelevel"), true)).toEqual([]);
  const accepted = names.filter((name) => isRefName(name, true)).length;
  expect(accepted).toBeGreaterThan(200);
  expect(names.length - accepted).toBeGreaterThan(200);
});

function wrongs(names: readonly string[], expected: readonly boolean[], oneLevel: boolean): string[] {
  expect(expected).toHaveLength(names.length);
  return names.filter((name, index) => isRefName(name, oneLevel) !== expected[index]);
}

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
