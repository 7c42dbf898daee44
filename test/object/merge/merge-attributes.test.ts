import { rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fromHex } from "../../../src/base/format/oid.ts";
import { NewObjects } from "../../../src/object/push/new-objects.ts";
import { mergeCommits } from "../../../src/object/merge/merge-commits.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { git, makeRepository } from "../../harness/git.ts";
import { PushedRepository } from "../pushing.ts";
import { mergeByGit, outcomeOf } from "./merge-outcome.ts";
import { ANYONE } from "../../harness/requester.ts";

/** A file of a version: its text, or bytes as text of one byte a character; null: there is none. */
type Files = Readonly<Record<string, string | null>>;

interface Case {
  readonly base: Files;
  /** What differs there. */
  readonly ours: Files;
  readonly theirs: Files;
  /** The kind of conflict of each path in conflict. */
  readonly conflicts: Readonly<Record<string, string>>;
}

const lines = (...changed: string[]): string => ["1", "2", ...changed, "4", "5", ""].join("\n");
const BASE = lines("3");
const OURS = lines("ours");
const THEIRS = lines("theirs", "more");

/** Both sides change the same lines of each of these paths. */
const bothChange = (attributes: string, paths: readonly string[], conflicts: Case["conflicts"]): Case => {
  const all = (text: string): Files => Object.fromEntries(paths.map((path) => [path, text]));
  return { base: { ".gitattributes": attributes, ...all(BASE) }, ours: all(OURS), theirs: all(THEIRS), conflicts };
};

const CASES: Record<string, Case> = {
  "-merge, binary and merge=binary are not merged": bothChange(
    "a -merge\nb binary\nc merge=binary\nd -text\ne -diff\n",
    ["a", "b", "c", "d", "e"],
    { a: "binary", b: "binary", c: "binary", d: "content", e: "content" },
  ),
  "merge=union takes the lines of both": bothChange("*.log merge=union\n", ["a.log", "d/b.log", "c"], { c: "content" }),
  "merge, merge=text and a driver that is not known merge by lines": bothChange(
    "a merge\nb merge=text\nc merge=mine\nd text eol=crlf\ne text=auto\n",
    ["a", "b", "c", "d", "e"],
    { a: "content", b: "content", c: "content", d: "content", e: "content" },
  ),
  "markers are as long as conflict-marker-size says": bothChange(
    "a conflict-marker-size=12\nb conflict-marker-size=-1\nc conflict-marker-size\nd conflict-marker-size=9x\n",
    ["a", "b", "c", "d"],
    { a: "content", b: "content", c: "content", d: "content" },
  ),
  "the nearest file decides, and macros count at the root": {
    base: {
      ".gitattributes": "[attr]joined merge=union\n* -merge\nd/* joined\n",
      "d/.gitattributes": "b !merge\nc merge=union\n[attr]x merge=union\ne x\n",
      "d/a": BASE,
      "d/b": BASE,
      "d/c": BASE,
      "d/e": BASE,
      f: BASE,
    },
    ours: { "d/a": OURS, "d/b": OURS, "d/c": OURS, "d/e": OURS, f: OURS },
    theirs: { "d/a": THEIRS, "d/b": THEIRS, "d/c": THEIRS, "d/e": THEIRS, f: THEIRS },
    conflicts: { "d/b": "content", f: "binary" },
  },
  "the attributes are those of the branch that is merged into": {
    base: { a: BASE, b: BASE },
    ours: { ".gitattributes": "a merge=union\n", a: OURS, b: OURS },
    theirs: { ".gitattributes": "b merge=union\n", a: THEIRS, b: THEIRS },
    conflicts: { ".gitattributes": "add/add", b: "content" },
  },
  "a union of lines without a line end, with CR LF, of several conflicts, and of new files": {
    base: {
      ".gitattributes": "* merge=union\n",
      end: "1\n2",
      crlf: "1\r\n2\r\n3\r\n",
      crlfEnd: "1\r\n2",
      near: "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n",
      gone: BASE,
    },
    ours: {
      end: "1\nours",
      crlf: "1\r\nours\r\n3\r\n",
      crlfEnd: "1\r\nours",
      near: "A\nb\nC\nd\ne\nf\ng\nh\ni\nj\nK\n",
      new: "ours\n",
      gone: "\n",
    },
    theirs: {
      end: "1\ntheirs",
      crlf: "1\r\ntheirs\r\n3\r\n",
      crlfEnd: "1\r\ntheirs",
      near: "x\nb\ny\nd\ne\nf\ng\nh\ni\nj\nz\n",
      new: "theirs\n",
      gone: THEIRS,
    },
    conflicts: {},
  },
  "a union of binary files, and of a deleted one, is none": {
    base: { ".gitattributes": "* merge=union\n", a: "\0a", b: BASE },
    ours: { a: "\0b", b: null },
    theirs: { a: "\0c", b: THEIRS },
    conflicts: { a: "binary", b: "modify/delete" },
  },
  "a renamed file has the attributes of its new path": {
    base: { ".gitattributes": "new merge=union\nold -merge\n", old: lines("3", "a", "b", "c", "d", "e", "f", "g") },
    ours: { old: null, new: lines("ours", "a", "b", "c", "d", "e", "f", "g") },
    theirs: { old: lines("theirs", "a", "b", "c", "d", "e", "f", "g") },
    conflicts: {},
  },
  "one renamed in two ways has those of its old path": {
    base: { ".gitattributes": "old merge=union\n", old: lines("3", "a", "b", "c", "d", "e", "f", "g") },
    ours: { old: null, one: lines("ours", "a", "b", "c", "d", "e", "f", "g") },
    theirs: { old: null, two: lines("theirs", "a", "b", "c", "d", "e", "f", "g") },
    conflicts: { old: "rename/rename", one: "rename/rename", two: "rename/rename" },
  },
};

/** More bytes of attributes than a merge reads, and a file that both sides change below each. */
const MUCH: Case = {
  base: Object.fromEntries(
    ["a", "b", "c", "d", "e"].flatMap((at) => [
      [`${at}/.gitattributes`, "x merge=union\n".repeat(4_600)],
      [`${at}/file`, BASE],
    ]),
  ),
  ours: Object.fromEntries(["a", "b", "c", "d", "e"].map((at) => [`${at}/file`, OURS])),
  theirs: Object.fromEntries(["a", "b", "c", "d", "e"].map((at) => [`${at}/file`, THEIRS])),
  conflicts: {},
};

let dir: string;
let repository: OpenRepository;

/** Merges by Holdfast. */
async function merge(ours: string, theirs: string) {
  const { graph } = repository.tables;
  const [first, second] = await Promise.all(
    [ours, theirs].map(async (ref) => graph.position(repository.numberOf(fromHex(await git(dir, "rev-parse", ref))))),
  );
  const made = new NewObjects(repository.state.platform.codec);
  return mergeCommits(repository, first!, second!, { ours, theirs }, made);
}

async function write(files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const at = join(dir, path);
    await mkdir(dirname(at), { recursive: true });
    if (content === null) rmSync(at);
    else writeFileSync(at, Buffer.from(content, "latin1"));
  }
  await git(dir, "add", "-A");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "files");
}

beforeAll(async () => {
  dir = await makeRepository("attributes");
  await git(dir, "config", "core.autocrlf", "false");
  await git(dir, "commit", "-q", "--allow-empty", "-m", "begin");
  const refs: string[] = [];
  for (const [i, { base, ours, theirs }] of [...Object.values(CASES), MUCH].entries()) {
    await git(dir, "checkout", "-q", "-f", "--orphan", `base${i}`);
    await git(dir, "rm", "-q", "-r", "-f", "--ignore-unmatch", ".");
    await write(base);
    for (const [side, files] of [
      ["ours", ours],
      ["theirs", theirs],
    ] as const) {
      await git(dir, "checkout", "-q", "-f", "-b", `${side}${i}`, `base${i}`);
      await write(files);
      refs.push(`refs/heads/${side}${i}`);
    }
  }
  const pushed = new PushedRepository();
  await pushed.pushFrom(dir, Object.fromEntries(refs.map((ref) => [ref, ref])));
  repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
});

test.each(Object.keys(CASES))("%s", async (name) => {
  const i = Object.keys(CASES).indexOf(name);
  const [ours, theirs] = [`ours${i}`, `theirs${i}`];
  // Git reads attributes where the work tree has them: it is the branch's into which is merged.
  await git(dir, "checkout", "-q", "-f", ours);
  const merged = await merge(ours, theirs);
  expect(outcomeOf(merged)).toEqual(await mergeByGit(dir, ours, theirs));
  const kinds = merged.kind === "clean" ? [] : merged.conflicts.map(({ path, kind }) => [path, kind]);
  expect(Object.fromEntries(kinds)).toEqual(CASES[name]!.conflicts);
});

test("more attributes than a merge reads end it with the limit", async () => {
  const i = Object.keys(CASES).length;
  await expect(merge(`ours${i}`, `theirs${i}`)).rejects.toThrow(
    "the .gitattributes files of a merge (bytes) exceeds the limit",
  );
});
