import { spawnSync } from "node:child_process";
import { expect } from "vitest";
import { fromByteString } from "../../../src/base/format/byte-string.ts";
import { isRefName } from "../../../src/base/format/ref-name.ts";
import { gitEnv } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";

/** Makes so many random names, and compares the verdict on each with git check-ref-format. */
export function expectAsGit(count: number): void {
  const random = new Random(4);
  const names = Array.from({ length: count }, () => `${random.pick(["", "", "x/"])}${makeName(random)}`).filter(
    (name) => !name.startsWith("-"), // git would take it for an option
  );
  const twoLevel = names.map((name) => `refs/${name}`);
  expect(wrongs(twoLevel, checkWithGit(twoLevel), false)).toEqual([]);
  expect(wrongs(names, checkWithGit(names, "--allow-onelevel"), true)).toEqual([]);
  const accepted = names.filter((name) => isRefName(name, true)).length;
  expect(accepted).toBeGreaterThan(count / 10);
  expect(names.length - accepted).toBeGreaterThan(count / 10);
}

/** Asks git about each name. Names are passed NUL-separated on stdin: an argument of spawn must be
 * text. */
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

function wrongs(names: readonly string[], expected: readonly boolean[], oneLevel: boolean): string[] {
  expect(expected).toHaveLength(names.length);
  return names.filter((name, index) => isRefName(name, oneLevel) !== expected[index]);
}
