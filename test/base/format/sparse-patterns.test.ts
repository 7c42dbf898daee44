import { beforeAll, describe, expect, test } from "vitest";
import { fromByteString, toByteString } from "../../../src/base/format/byte-string.ts";
import { MAX_SPARSE_FILE_BYTES, MAX_SPARSE_PATTERNS } from "../../../src/base/format/limits.ts";
import {
  parseSparsePatterns,
  type SparseMatch,
  type SparsePatterns,
} from "../../../src/base/format/sparse-patterns.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";

// The oracle is a repository in which every path has its own blob. The blobs that `git rev-list
// --filter=sparse:oid=…` lists show git's verdict on every path.

const PATHS = [
  "a|b|ab|abc|a.c|a.h|A|Z|0|-|]|!|#|^|*|?|[|\\| x|x |x  |a\t|q\r|é|\x80|\xff|#a|!a|a*b|a[b]|a b",
  "\x0b|\x0c|\x7f|~|aXb|aab|aaab|d/a|d/b|d/a.c|d/d/a|d/d/b.c|d/e/f/g/a|d/e/f/g/b.c|e/d/a|e/d",
  "foo/bar/baz|foo/baz|foo/x/y/baz|foobar/baz|xfoo/bar|foo.d/a|doc/a.txt|doc/api/a.txt",
  "src/doc/a.txt|src/doc/sub/b.md|deep/foo/bar/baz/x|deep/foo/b/a/z/bar|a/ b/c|a/b /c|[a]/b|a-b/c",
  "*/x",
]
  .join("|")
  .split("|")
  .filter((path, _, all) => !all.some((other) => other.startsWith(`${path}/`)));

let dir: string;
let head: string;
const pathOfBlob = new Map<string, string>();

/** Stores blobs and, on demand, a commit whose tree has them at the paths that are their
 * content. */
async function importBlobs(contents: readonly string[], asTree: boolean): Promise<string[]> {
  const stream = contents.map((text, i) => `blob\nmark :${i + 1}\ndata ${text.length}\n${text}\n`);
  if (asTree) {
    stream.push("commit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\ndata 0\n");
    for (const [i, path] of contents.entries()) stream.push(`M 100644 :${i + 1} ${quotePath(path)}\n`);
  }
  const marks = contents.map((_, i) => `get-mark :${i + 1}\n`);
  const stdin = fromByteString([...stream, ...marks].join(""));
  const { stdout, stderr } = await tryGit(dir, ["fast-import", "--quiet", "--force"], { stdin });
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

function quotePath(path: string): string {
  const octal = (char: string): string => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return `"${path.replace(/[^\w/]/g, octal)}"`;
}

/** The paths that git sends for each of the files. */
async function askGit(files: readonly string[]): Promise<string[][]> {
  const oids = await importBlobs(files, false);
  const answers: string[][] = [];
  for (const oid of oids) {
    const listed = await git(dir, "rev-list", "--objects", "--no-object-names", `--filter=sparse:oid=${oid}`, head);
    const sent = listed.split("\n").map((line) => pathOfBlob.get(line));
    answers.push(PATHS.filter((path) => sent.includes(path)));
  }
  return answers;
}

/** The same by our patterns: an undecided path follows its directory. */
function ask(file: string): string[] {
  const patterns = parseSparsePatterns(fromByteString(file));
  return PATHS.filter((path) => fateOf(patterns, path, false) === "include");
}

function fateOf(patterns: SparsePatterns, path: string, isDirectory: boolean): SparseMatch {
  const slash = path.lastIndexOf("/");
  const match = patterns.match(path, path.slice(slash + 1), isDirectory);
  if (match !== "undecided") return match;
  return path === "" ? "exclude" : fateOf(patterns, path.slice(0, Math.max(slash, 0)), true);
}

async function expectAgreement(files: readonly string[]): Promise<void> {
  const expected = await askGit(files);
  const wrong = files.flatMap((file, i) => {
    const [actual, wanted] = [ask(file), expected[i]!];
    return JSON.stringify(actual) === JSON.stringify(wanted) ? [] : [{ file, actual, wanted }];
  });
  expect(wrong).toEqual([]);
}

beforeAll(async () => {
  dir = await makeRepository("sparse", "--bare");
  const oids = await importBlobs(PATHS, true);
  for (const [i, oid] of oids.entries()) pathOfBlob.set(oid, PATHS[i]!);
  head = await git(dir, "rev-parse", "refs/heads/main");
});

describe("git agrees on", () => {
  test.each([
    [
      "names and folders",
      ["a", "a\n", "d", "d/", "/d", "/d/", "d/d", "/d/d/", "doc", "/doc", "nothing", "", "\n", "a/b"],
    ],
    [
      "negation and order",
      ["*\n!d\n", "*\n!d/\n", "!d\nd\n", "d\n!d\n", "/d/*\n!/d/d/\n", "/*\n!/d/\n/d/d/\n", "*\n!a\n!/foo/*\n"],
    ],
    [
      "what is left out of a line",
      ["#a", "\\#a", "\\!a", "!a", "a ", "x\\ ", "x \\ ", "x\\  ", "a\\", "a \\", " x", "a\r\n", "q\r\r\n"],
    ],
    [
      "lines of nothing",
      ["/", "!/", "*\n!/\n", "!", " ", "\r\n", "//", "\0", "a\0b\n", "\xef\xbb\xbfa\n", "#\n#\n", "\\"],
    ],
    [
      "one star",
      [
        "*",
        "/*",
        "*/",
        "/*/",
        "*.c",
        "/*.c",
        "d/*",
        "d/*/",
        "*/a",
        "/*/*",
        "foo/*/baz",
        "foo*",
        "foo*/baz",
        "a*b",
        "**b",
      ],
    ],
    [
      "two stars",
      ["**", "**/", "/**", "/**/", "**/a", "/**/a", "d/**", "d/**/", "d/**/a", "foo/**/baz", "**/d/**", "**/**/a"],
    ],
    [
      "stars that are only one",
      ["foo/**bar", "d/*/**c", "***", "***/a", "d/***/a", "d/?**/a", "[d]**/a", "**.c", "d/**.c"],
    ],
    [
      "any byte and escapes",
      ["?", "??", "/?/?", "d?a", "\\*", "\\?", "\\[", "\\\\", "a\\*b", "\\a", "d\\/a", "**\\/a", "*\\/a"],
    ],
    [
      "brackets",
      ["[ab]", "[!a]", "[^a]", "[a-c]", "[]]", "[!]]", "[]-a]", "[a-]", "[-a]", "[\\]]", "[\\a-\\c]", "[a-\\]]", "[[]"],
    ],
    ["brackets and slashes", ["d[/]a", "d[!x]a", "d/[ad]", "[a-z]*/[a-z]*", "\\[a]/b", "[*]/x", "[d/]/a", "[[]a]/b"]],
    [
      "odd brackets",
      [
        "[",
        "[a",
        "[]",
        "[!",
        "[!]",
        "[a-",
        "[\\",
        "[a\\",
        "[z-a]",
        "[a-c-e]",
        "*[",
        "[[:",
        "[[:]",
        "[[::]]",
        "[[:a]",
        "a[b]",
      ],
    ],
    [
      "classes",
      [
        "alnum",
        "alpha",
        "blank",
        "cntrl",
        "digit",
        "graph",
        "lower",
        "print",
        "punct",
        "space",
        "upper",
        "xdigit",
      ].flatMap((name) => [`[[:${name}:]]`, `[![:${name}:]]`, `?[[:${name}:]]`]),
    ],
    [
      "classes among others",
      ["[[:digit:]a]", "[[:digit:]-a]", "[a[:upper:]]", "[[:foo:]]", "[[:digit:]", "[[:ALPHA:]]", "[[:toString:]]"],
    ],
    [
      "folders within the included and the excluded",
      ["/d\n!/d/e\n/d/e/f/g/a\n", "*\n!/d/e/\n/d/e/f/\n!*.c\n", "/foo/\n!/foo/x/\n"],
    ],
  ])("%s", async (_, files) => {
    await expectAgreement(files);
  });

  test("random patterns", { tags: "sweep", timeout: 60_000 }, async () => {
    const random = new Random(11);
    const pieces = [
      "a",
      "b",
      "d",
      "foo",
      "ba",
      "x",
      ".c",
      "/",
      "/",
      "/",
      "*",
      "*",
      "**/",
      "/**",
      "?",
      "[a-d]",
      "[!a]",
      "\\a",
      "[",
    ];
    const makePattern = (): string =>
      random.pick(["", "", "", "/", "!"]) +
      Array.from({ length: 1 + random.below(6) }, () => random.pick(pieces)).join("") +
      random.pick(["", "", "", "/", " "]);
    const files = Array.from({ length: 400 }, () =>
      Array.from({ length: 1 + random.below(4) }, makePattern).join("\n"),
    );
    await expectAgreement(files.filter((file) => !LITERAL_BEFORE_STARS.test(file)));
  });
});

// Older versions of git treat stars after a letter like stars at the beginning.
const LITERAL_BEFORE_STARS = /[^*?[\]\\/!\n]\*\*+(\/|\n|$)/;

test("stars behind a letter are one star", () => {
  const patterns = parseSparsePatterns(fromByteString("/foo**/baz\n"));
  expect(patterns.match("foobar/baz", "baz", false)).toBe("include");
  expect(patterns.match("foo/x/y/baz", "baz", false)).toBe("undecided");
});

test("a path that no pattern names is undecided", () => {
  const patterns = parseSparsePatterns(fromByteString("*.c\n!b.c\n"));
  expect(patterns.match("d/a.c", "a.c", false)).toBe("include");
  expect(patterns.match("d/b.c", "b.c", false)).toBe("exclude");
  expect(patterns.match("d/b.h", "b.h", false)).toBe("undecided");
});

test("refuses a long file and too many patterns", () => {
  const tooLarge = expect.objectContaining({ code: "too-large" }) as Error;
  expect(() => parseSparsePatterns(new Uint8Array(MAX_SPARSE_FILE_BYTES + 1))).toThrow(tooLarge);
  parseSparsePatterns(fromByteString("a\n".repeat(MAX_SPARSE_PATTERNS)));
  expect(() => parseSparsePatterns(fromByteString("a\n".repeat(MAX_SPARSE_PATTERNS + 1)))).toThrow(tooLarge);
});

test("comments do not count as patterns", () => {
  const file = `${"#\n".repeat(MAX_SPARSE_PATTERNS + 1)}a\n`;
  expect(toByteString(fromByteString(file))).toBe(file);
  expect(parseSparsePatterns(fromByteString(file)).match("a", "a", false)).toBe("include");
});
