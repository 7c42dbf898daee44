import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseGitmodules } from "../../../src/base/format/gitmodules.ts";
import { git, makeRepository } from "../../harness/git.ts";

const TEXTS: readonly string[] = [
  '[submodule "a"]\n\tpath = a\n\turl = ../a.git\n',
  '[submodule "a b"]\r\n\tpath = "a b"\r\n\turl = https://example.com/a#b ; c\r\n[submodule "c"]\npath=c\nurl="x # y" # z\n',
  '[submodule "q\\"]"] path = q\nurl = "a\\\\b\\t"\n',
  '[core]\n\tpath = no\n[submodule "a"]\n\tpath = a\n\turl = one\n\turl = two\n\tbranch = x\n',
  '[submodule "a"]\n\tpath = long\\\n/er\n\turl = u\n[submodule "none"]\n\tpath = none\n',
  '[SubModule "a"]\n\tPATH = a   b  \n\tURL = u\n# [submodule "x"]\n; path = x\n',
];

test.each(TEXTS)("%j is read as git reads it", async (text) => {
  const dir = await makeRepository("modules");
  await writeFile(join(dir, "m"), text);
  const lines = (await git(dir, "config", "-z", "--file", "m", "--list")).split("\0").filter((line) => line !== "");
  const values = new Map(lines.map((line) => [line.slice(0, line.indexOf("\n")), line.slice(line.indexOf("\n") + 1)]));
  const names = [...values.keys()].flatMap((key) => /^submodule\.(.*)\.path$/s.exec(key)?.[1] ?? []);
  const expected = names.flatMap((name) => {
    const [path, url] = [values.get(`submodule.${name}.path`)!, values.get(`submodule.${name}.url`)];
    return url === undefined ? [] : [{ path, url }];
  });
  expect(parseGitmodules(text)).toEqual(expected);
});

test("what is malformed is passed over", () => {
  expect(
    parseGitmodules('path = a\nurl = b\n[submodule]\npath = a\nurl = b\n[submodule "x\npath = a\n= = =\n\\\n"'),
  ).toEqual([]);
  expect(parseGitmodules(`[submodule "${"\\a".repeat(100_000)}`)).toEqual([]);
});
