import { beforeAll, expect, test } from "vitest";
import { fromHex, toHex } from "../../../src/base/format/oid.ts";
import { encodeTree, FILE_MODE, parseTree } from "../../../src/base/format/tree.ts";
import { NewObjects } from "../../../src/object/push/new-objects.ts";
import type { Conflict } from "../../../src/object/merge/conflict.ts";
import { mergeTrees } from "../../../src/object/merge/merge-trees.ts";
import { OpenRepository } from "../../../src/object/objects/open-repository.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { PushedRepository } from "../pushing.ts";
import { mergeByGit, outcomeOf } from "./merge-outcome.ts";
import { ANYONE } from "../../harness/requester.ts";

/** Path → content; a mode and a colon in front mark anything but a plain file. */
type Files = Record<string, string>;

interface Case {
  readonly base: Files;
  /** What differs on that side; null: absent. */
  readonly ours: Record<string, string | null>;
  readonly theirs: Record<string, string | null>;
  /** Each conflict: path and kind. */
  readonly conflicts?: Record<string, string>;
}

/** Lines of a text that is long enough to be recognized after a change. */
function lines(name: string, changes: Record<number, string> = {}): string {
  return Array.from({ length: 20 }, (_, i) => `${changes[i] ?? `${name} line ${i}`}\n`).join("");
}

const COMMIT = "1".repeat(40);
const OTHER_COMMIT = "2".repeat(40);
const LAST_COMMIT = "3".repeat(40);

const CASES: Record<string, Case> = {
  "each side changes other files": {
    base: { a: "a\n", "d/b": "b\n", "d/e/c": "c\n", "f/g": "g\n" },
    ours: { a: "A\n", "d/e/c": null, "f/h": "h\n" },
    theirs: { "d/b": "B\n", new: "n\n", "f/g": null },
  },
  "each side changes other lines": {
    base: { a: lines("a"), mode: lines("m") },
    ours: { a: lines("a", { 1: "ours" }), mode: `100755:${lines("m")}` },
    theirs: { a: lines("a", { 15: "theirs" }), mode: lines("m", { 3: "theirs" }) },
  },
  "both sides do the same": {
    base: { a: "a\n", b: "b\n", c: "c\n" },
    ours: { a: "A\n", b: null, new: "n\n", "dir/new": "n\n" },
    theirs: { a: "A\n", b: null, new: "n\n", "dir/new": "n\n" },
  },
  "both sides change the same lines": {
    base: { a: lines("a"), b: "b\n" },
    ours: { a: lines("a", { 3: "ours", 12: "ours" }), b: "ours" },
    theirs: { a: lines("a", { 3: "theirs", 12: "theirs" }), b: "theirs" },
    conflicts: { a: "content", b: "content" },
  },
  "both sides add a file": {
    base: { x: "x\n" },
    ours: { a: "ours\n", same: "s\n", mode: "m\n" },
    theirs: { a: "theirs\n", same: "s\n", mode: "100755:m\n" },
    conflicts: { a: "add/add", mode: "mode" },
  },
  "one side deletes what the other changes": {
    base: { a: "a\n", "d/b": "b\n", same: "s\n" },
    ours: { a: null, "d/b": "B\n", same: null },
    theirs: { a: "A\n", "d/b": null },
    conflicts: { a: "modify/delete", "d/b": "modify/delete" },
  },
  "files in the way of directories": {
    base: { a: "a\n", "d/f": "f\n", "e/f": "f\n", g: "g\n" },
    ours: { a: null, "a/b": "b\n", "d/f": "F\n", "e/f": null, e: "file\n", g: null, "g/h": "h\n" },
    theirs: { a: "A\n", "d/f": null, d: "file\n" },
    conflicts: { "a~theirs": "file/directory", "d/f": "modify/delete", "d~theirs": "file/directory" },
  },
  "a file where both others are directories": {
    base: { "d/f": "f\n" },
    ours: { "d/f": null, d: "d\n", "new/file": "n\n" },
    theirs: { "d/g": "g\n", new: "a file\n" },
    conflicts: { "d~ours": "file/directory", "new~theirs": "file/directory" },
  },
  "symbolic links": {
    base: { a: "120000:x", b: "120000:x", c: "file\n", d: "120000:x" },
    ours: { a: "120000:y", b: "120000:y", c: "120000:x", d: "file\n" },
    theirs: { a: "120000:z", c: "changed\n", d: "100755:program\n", new: "120000:x" },
    conflicts: { a: "symlink", "c~theirs": "distinct types", c: "distinct types", d: "add/add" },
  },
  submodules: {
    base: { a: `160000:${COMMIT}`, b: `160000:${COMMIT}`, c: `160000:${COMMIT}`, d: "d\n" },
    ours: { a: `160000:${OTHER_COMMIT}`, b: `160000:${OTHER_COMMIT}`, c: null, d: `160000:${COMMIT}` },
    theirs: { a: `160000:${LAST_COMMIT}`, c: `160000:${LAST_COMMIT}`, d: "120000:d" },
    conflicts: { a: "submodule", c: "modify/delete", "d~ours": "distinct types", "d~theirs": "distinct types" },
  },
  "binary files": {
    base: { a: "a\0\n", b: "b\0\n" },
    ours: { a: "ours\0\n", b: "ours\0\n" },
    theirs: { a: "theirs\0\n" },
    conflicts: { a: "binary" },
  },
  "one side renames, the other changes": {
    base: { a: lines("a"), "d/b": lines("b"), c: lines("c"), same: lines("s") },
    ours: { a: null, "new/a": lines("a"), "d/b": null, "e/B": lines("b", { 1: "ours" }), c: lines("c", { 1: "ours" }) },
    theirs: {
      a: lines("a", { 5: "theirs" }),
      "d/b": lines("b", { 18: "theirs" }),
      c: null,
      C: lines("c", { 18: "t" }),
    },
  },
  "a renamed file is in conflict": {
    base: { a: lines("a") },
    ours: { a: null, b: lines("a", { 5: "ours" }) },
    theirs: { a: lines("a", { 5: "theirs" }) },
    conflicts: { b: "content" },
  },
  "one side renames what the other deletes": {
    base: { a: lines("a"), b: lines("b"), x: "x\n" },
    ours: { a: null, "new/a": lines("a"), b: null, B: lines("b", { 2: "ours" }) },
    theirs: { a: null, b: null },
    conflicts: { B: "rename/delete", "new/a": "rename/delete" },
  },
  "both sides rename a file": {
    base: { a: lines("a"), b: lines("b"), c: "c\0" + lines("c") },
    ours: {
      a: null,
      ours: lines("a", { 2: "ours" }),
      b: null,
      same: lines("b", { 2: "ours" }),
      c: null,
      d: "c\0" + lines("c") + "1",
    },
    theirs: {
      a: null,
      theirs: lines("a", { 17: "t" }),
      b: null,
      same: lines("b", { 17: "t" }),
      c: null,
      e: "c\0" + lines("c") + "2",
    },
    conflicts: {
      a: "rename/rename",
      ours: "rename/rename",
      theirs: "rename/rename",
      c: "rename/rename",
      d: "rename/rename",
      e: "rename/rename",
    },
  },
  "two files are renamed to one path": {
    base: { a: lines("a"), b: lines("b") },
    ours: { a: null, c: lines("a", { 2: "ours" }), b: lines("b", { 2: "ours" }) },
    theirs: { b: null, c: lines("b", { 17: "theirs" }), a: lines("a", { 17: "theirs" }) },
    conflicts: { c: "add/add" },
  },
  "a renamed file meets an added one": {
    base: { a: lines("a"), x: "x\n" },
    ours: { a: null, b: lines("a", { 2: "ours" }) },
    theirs: { b: "added\n", a: lines("a", { 2: "theirs" }) },
    conflicts: { b: "rename collides" },
  },
  "a deleted file was renamed to where another is added": {
    base: { a: lines("a"), x: "x\n" },
    ours: { a: null, b: lines("a", { 2: "ours" }) },
    theirs: { a: null, b: "added\n" },
    conflicts: { b: "rename/delete" },
  },
  "a renamed file, a link in its old place": {
    base: { a: lines("a"), x: "x\n" },
    ours: { a: null, b: lines("a", { 2: "ours" }) },
    theirs: { a: "120000:x", b: lines("a", { 17: "theirs" }) },
  },
  "one side renames a directory, the other adds to it": {
    base: { "d/a": lines("a"), "d/b": lines("b"), "d/e/c": lines("c"), x: "x\n" },
    ours: { "d/a": null, "d/b": null, "d/e/c": null, "n/a": lines("a"), "n/b": lines("b"), "n/e/c": lines("c") },
    theirs: { "d/new": "new\n", "d/e/new": "new\n", "d/a": lines("a", { 3: "theirs" }) },
    conflicts: { "n/new": "file location", "n/e/new": "file location" },
  },
  "a directory goes up to the top": {
    base: { "d/e/a": lines("a"), "d/e/b": lines("b"), x: "x\n" },
    ours: { "d/e/a": null, "d/e/b": null, a: lines("a"), b: lines("b") },
    theirs: { "d/e/new": "new\n" },
    conflicts: { new: "file location" },
  },
  "a directory is split": {
    base: { "d/a": lines("a"), "d/b": lines("b"), x: "x\n" },
    ours: { "d/a": null, "d/b": null, "n/a": lines("a"), "m/b": lines("b") },
    theirs: { "d/new": "new\n" },
    conflicts: { d: "directory rename split" },
  },
  "a renamed directory has something in the way": {
    base: { "d/a": lines("a"), "d/b": lines("b"), x: "x\n" },
    ours: { "d/a": null, "d/b": null, "n/a": lines("a"), "n/b": lines("b"), "n/new": "ours\n" },
    theirs: { "d/new": "new\n", "n/new": "theirs\n" },
    conflicts: { "n/new": "directory rename in the way" },
  },
  "two directories become one": {
    base: { "d/a": lines("a"), "e/b": lines("b"), x: "x\n" },
    ours: { "d/a": null, "e/b": null, "n/a": lines("a"), "n/b": lines("b") },
    theirs: { "d/new": "new\n", "e/new": "new\n" },
    conflicts: { "n/new": "directory rename collision" },
  },
  "both sides rename directories": {
    base: { "d/a": lines("a"), "d/b": lines("b"), "e/c": lines("c"), "e/f": lines("f") },
    ours: { "d/a": null, "d/b": null, "n/a": lines("a"), "n/b": lines("b"), "e/new": "new\n" },
    theirs: { "e/c": null, "e/f": null, "d/c": lines("c"), "d/f": lines("f"), "d/new": "new\n" },
    conflicts: { "n/c": "file location", "n/f": "file location" },
  },
  "names that are no text, and names that sort beside directories": {
    base: { "d\xff/\xe4": "a\n", "d\xff.x": "b\n", "d\xff-": "c\n" },
    ours: { "d\xff/\xe4": "ours\n", "d\xff.x": "B\n" },
    theirs: { "d\xff/\xe4": "theirs\n", "d\xff-": "C\n", "d\xff0": "new\n" },
    conflicts: { "d\xff/\xe4": "content" },
  },
};

let dir: string;
let repository: OpenRepository;

beforeAll(async () => {
  dir = await makeRepository("source");
  const stream = Object.values(CASES).flatMap(({ base, ours, theirs }, i) => [
    importCommit(`base-${i}`, base, null),
    importCommit(`ours-${i}`, changed(base, ours), `base-${i}`),
    importCommit(`theirs-${i}`, changed(base, theirs), `base-${i}`),
  ]);
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], {
    stdin: Buffer.from(stream.join(""), "latin1"),
  });
  if (code !== 0) throw new Error(stderr);
  const pushed = new PushedRepository();
  const refs = (await git(dir, "for-each-ref", "--format=%(refname)")).split("\n");
  await pushed.pushFrom(dir, Object.fromEntries(refs.map((ref) => [ref, ref])));
  repository = new OpenRepository(pushed.repository.state, ANYONE, async () => undefined);
});

function changed(base: Files, changes: Record<string, string | null>): Files {
  const all = Object.entries({ ...base, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

function importCommit(branch: string, files: Files, parent: string | null): string {
  const from = parent === null ? "" : `from refs/heads/${parent}\n`;
  const entries = Object.entries(files).map(([path, text]) => {
    const [, mode = "100644", content = text] = /^(\d{6}):([^]*)$/.exec(text) ?? [];
    const name = `"${path.replaceAll(/[\x80-\xff]/g, (char) => `\\${char.charCodeAt(0).toString(8)}`)}"`;
    return mode === "160000"
      ? `M ${mode} ${content} ${name}\n`
      : `M ${mode} inline ${name}\ndata ${content.length}\n${content}\n`;
  });
  const head = `commit refs/heads/${branch}\ncommitter A <a@b> 1700000000 +0000\ndata 0\n${from}deleteall\n`;
  return `${head}${entries.join("")}\n`;
}

async function merge(i: number, made: NewObjects) {
  const tree = async (name: string) => fromHex(await git(dir, "rev-parse", `${name}-${i}^{tree}`));
  const roots = { base: await tree("base"), ours: await tree("ours"), theirs: await tree("theirs") };
  return mergeTrees(repository, roots, { ours: `ours-${i}`, theirs: `theirs-${i}` }, made);
}

test.each(Object.entries(CASES).map(([name, one], i) => [name, one, i] as const))("%s", async (_, { conflicts }, i) => {
  const merged = await merge(i, new NewObjects(repository.state.platform.codec));
  expect(outcomeOf(merged)).toEqual(await mergeByGit(dir, `ours-${i}`, `theirs-${i}`));
  const kinds =
    merged.kind === "clean" ? [] : merged.conflicts.map(({ path, kind }) => [path.replace(`-${i}`, ""), kind]);
  expect(Object.fromEntries(kinds)).toEqual(conflicts ?? {});
});

const caseOf = (name: string): number => Object.keys(CASES).indexOf(name);

test("hunks tell the lines of the base and of both sides", async () => {
  const merged = await merge(
    caseOf("both sides change the same lines"),
    new NewObjects(repository.state.platform.codec),
  );
  const { conflicts } = merged as { conflicts: readonly Conflict[] };
  expect(conflicts[0]).toMatchObject({
    isTruncated: false,
    hunks: [
      {
        base: { start: 4, count: 1, text: "a line 3\n" },
        ours: { start: 4, count: 1, text: "ours\n" },
        theirs: { start: 4, count: 1, text: "theirs\n" },
      },
      { base: { start: 13 }, ours: { start: 13 }, theirs: { start: 13 } },
    ],
  });
});

test("new objects are those that the merged tree leads to and that are not stored; the trees may be new themselves", async () => {
  const i = caseOf("each side changes other lines");
  const made = new NewObjects(repository.state.platform.codec);
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  made.add("blob", encode("of no use\n"));
  const blob = made.add("blob", encode("nowhere else\n"));
  const tree = async (name: string) => fromHex(await git(dir, "rev-parse", `${name}-${i}^{tree}`));
  const [base, ours, theirs] = [await tree("base"), await tree("ours"), await tree("theirs")];
  const entries = parseTree((await repository.reader.read(repository.numberOf(theirs))).bytes);
  const edited = made.add("tree", encodeTree([...entries, { mode: FILE_MODE, name: "new", oid: blob }]));
  const merged = await mergeTrees(repository, { base, ours, theirs: edited }, { ours: "a", theirs: "b" }, made);
  if (merged.kind !== "clean") throw new Error("it is not clean");
  const written = parseTree(merged.newObjects.at(-1)!.content);
  expect(merged.newObjects.map(({ oid }) => toHex(oid)).toSorted()).toEqual(
    // Everything else in the merged tree, both sides have.
    [toHex(merged.tree), ...written.filter(({ name }) => name !== "mode").map(({ oid }) => toHex(oid))].toSorted(),
  );
  expect(written.map(({ name }) => name)).toEqual(["a", "mode", "new"]);
});

test("what is empty on all sides stays empty", async () => {
  const made = new NewObjects(repository.state.platform.codec);
  const merged = await mergeTrees(
    repository,
    { base: null, ours: null, theirs: null },
    { ours: "a", theirs: "b" },
    made,
  );
  expect(outcomeOf(merged)).toEqual({ isClean: true, tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", stages: [] });
});

test("texts that are too large are in conflict", async () => {
  const made = new NewObjects(repository.state.platform.codec);
  const tree = (char: string, lines: number): Uint8Array => {
    const content = new TextEncoder().encode(`${char}\n`.repeat(lines));
    return made.add("tree", encodeTree([{ mode: FILE_MODE, name: "a", oid: made.add("blob", content) }]));
  };
  const labels = { ours: "a", theirs: "b" };
  const large = { base: tree("x", 5_000_000), ours: tree("y", 1), theirs: tree("z", 1) };
  const merged = await mergeTrees(repository, large, labels, made);
  expect(merged).toMatchObject({ kind: "conflicts", conflicts: [{ path: "a", kind: "too large", hunks: [] }] });
});
