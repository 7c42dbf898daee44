import { deflateSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { DiskDiff } from "./disk-diff.ts";
import { commitSnapshots, type Snapshot } from "./snapshots.ts";

const COMMITS = ["1".repeat(40), "2".repeat(40)] as const;
const lines = (count: number, word = "line"): string =>
  Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join("");
const noise = (seed: number): Uint8Array => new Random(seed).bytes(3_000);
const source = `#include\nint main(void)\n{\n${"\tx();\n".repeat(20)}}\n\n$dollar = {\n${"  y;\n".repeat(12)}`;

const OLD: Snapshot = {
  "changed.txt": [lines(40)],
  "code.c": [`${source}z\n${"  y;\n".repeat(30)}`],
  "long-heading": [`${"h\xc3\xa4".repeat(60)} \n${" a\n".repeat(9)}b\n`],
  "latin1 heading": [`h\xe9ading\n${" a\n".repeat(9)}b\n`],
  "spaced heading": [`_begin   \t\n${" a\n".repeat(9)}b\n`],
  "no newline": ["a\nb"],
  "newline gone": ["a\nb\n"],
  "crlf.txt": ["a\r\nb\r\n"],
  empty: [""],
  "emptied.txt": ["x\n"],
  "gone.txt": ["gone\n"],
  "mode.sh": ["#!/bin/sh\n"],
  "mode and text": ["a\n"],
  link: ["target", "120000"],
  "link to file": ["target", "120000"],
  module: [COMMITS[0], "160000"],
  "binary.dat": [noise(1)],
  "binary from text": ["text\n"],
  "binary gone": [noise(2)],
  "late nul": [`${"x".repeat(8_000)}\0a\n`],
  'quo"te\\d\t\x7f': ["a\n"],
  "na\xc3\xafve \xff": ["a\n"],
  "moved/exact.txt": ["exact\n"],
  "moved/edited.txt": [lines(30, "moved")],
  "moved/run.sh": [lines(30, "run")],
  "moved/binary": [noise(3)],
};

const NEW: Snapshot = {
  "changed.txt": [lines(40).replace("line 3\n", "").replace("line 30\n", "new\nand newer\n")],
  "code.c": [`${source.replace("\tx();\n", "\tw();\n")}Z\n${"  y;\n".repeat(30)}more\n`],
  "long-heading": [`${"h\xc3\xa4".repeat(60)} \n${" a\n".repeat(9)}c\n`],
  "latin1 heading": [`h\xe9ading\n${" a\n".repeat(9)}c\n`],
  "spaced heading": [`_begin   \t\n${" a\n".repeat(9)}c\n`],
  "no newline": ["a\nb\nc"],
  "newline gone": ["a\nb"],
  "crlf.txt": ["a\r\nb\n"],
  empty: ["no more\n"],
  "emptied.txt": [""],
  "mode.sh": ["#!/bin/sh\n", "100755"],
  "mode and text": ["b\n", "100755"],
  link: ["elsewhere", "120000"],
  "link to file": ["a file\n"],
  module: [COMMITS[1], "160000"],
  "binary.dat": [noise(4)],
  "binary from text": ["text\0\n"],
  "binary added": [noise(5)],
  "late nul": [`${"x".repeat(8_000)}\0b\n`],
  'quo"te\\d\t\x7f': ["b\n"],
  "na\xc3\xafve \xff": ["b\n"],
  "added/empty": [""],
  "added/one line": ["one"],
  "there/exact.txt": ["exact\n"],
  "there/n\xe4me": [lines(30, "moved").replace("moved 7", "edited")],
  "there/run": [lines(30, "run").replace("run 9", "edited"), "100755"],
  "there/binary": [noise(3)],
};

let dir: string;
let diff: DiskDiff;

beforeAll(async () => {
  dir = await makeRepository("patches", "--bare");
  await commitSnapshots(dir, { old: OLD, new: NEW });
  diff = new DiskDiff(dir);
});

afterAll(() => diff.close());

test.each([
  ["old", "new"],
  ["new", "old"],
])("a patch from %s to %s is git's to the byte, and so are its figures", async (base, head) => {
  const { patch, stats } = await diff.compare(base, head);
  const options = ["diff", "-M", "--no-color", base, head];
  const { stdoutBytes } = await tryGit(dir, [...options, "--full-index"]);
  expect(patch.toString("latin1")).toBe(stdoutBytes.toString("latin1"));
  expect(stats).toBe((await tryGit(dir, [...options, "--numstat", "-z"])).stdoutBytes.toString("latin1"));
});

test("blanks are ignored as git ignores them", async () => {
  const random = new Random(8);
  const blanks = ["", "", "", " ", "\t", "  ", "\r", "\f"];
  const words = ["if (x) {", "}", "return y;", "", "  z"];
  const text = () => Array.from({ length: 30 }, () => random.pick(words));
  const write = (wanted: readonly string[]) =>
    wanted.map(
      (line) => random.pick(blanks) + line.replaceAll(" ", () => random.pick([" ", "\t ", ""])) + random.pick(blanks),
    );
  const snapshots: Record<"plain" | "blank", Record<string, [string]>> = { plain: {}, blank: {} };
  for (let file = 0; file < 60; file++) {
    const before = text();
    const after = before.flatMap((line) => (random.below(12) === 0 ? text().slice(0, random.below(4)) : [line]));
    snapshots.plain[`file-${file}`] = [write(before).join("\n") + random.pick(["", "\n"])];
    snapshots.blank[`file-${file}`] = [write(after).join("\n") + random.pick(["", "\n"])];
  }
  await commitSnapshots(dir, snapshots);
  const { patch } = await diff.compare("plain", "blank", { ignoresBlanks: true });
  // Git leaves out what is then unchanged.
  const shown = patch.toString("latin1").replace(/^diff --git .*\nindex .*\n(?=diff|$(?![^]))/gm, "");
  const { stdout } = await tryGit(dir, ["diff", "-w", "--no-color", "--full-index", "plain", "blank"]);
  expect(shown.split("\n")).toEqual(stdout.split("\n"));
});

test("git apply takes it with its binary files, there and back", async () => {
  const { patch } = await diff.compare("old", "new", { deflate: (content) => deflateSync(content) });
  const env = { GIT_INDEX_FILE: `${dir}/patched` };
  const apply = async (from: string, ...options: string[]): Promise<string> => {
    await tryGit(dir, ["read-tree", from], { env });
    // A submodule's content is in another repository: here it is only the line "Subproject commit".
    const { stderr } = await tryGit(dir, ["apply", "--cached", ...options], { env, stdin: patch });
    expect(
      stderr.replaceAll(/^.*(trailing whitespace|space before tab|add whitespace errors).*\n(.*\n)?/gm, ""),
    ).not.toMatch(/error/);
    return (await tryGit(dir, ["write-tree"], { env })).stdout.trim();
  };
  expect(await apply("old")).toBe(await git(dir, "rev-parse", "new^{tree}"));
  expect(await apply("new", "--reverse")).toBe(await git(dir, "rev-parse", "old^{tree}"));
});
