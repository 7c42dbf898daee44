import { expect, test } from "vitest";
import { fromByteString, toByteString } from "../../../src/base/format/byte-string.ts";
import { fromHex, OID_BYTES, toHex } from "../../../src/base/format/oid.ts";
import {
  encodeTree,
  EXECUTABLE_MODE,
  FILE_MODE,
  GITLINK_MODE,
  isTreeMode,
  parseTree,
  SYMLINK_MODE,
  TREE_MODE,
  type TreeEntry,
  typeOfMode,
} from "../../../src/base/format/tree.ts";
import { makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";

const MODES = [TREE_MODE, FILE_MODE, EXECUTABLE_MODE, SYMLINK_MODE, GITLINK_MODE];

function makeEntries(random: Random): TreeEntry[] {
  const byName = new Map<string, TreeEntry>();
  for (let count = random.below(30); count > 0; count--) {
    const name = Array.from({ length: 1 + random.below(4) }, () =>
      random.pick(["a", "b", ".", "-", "0", "\xff", "\n", "A"]),
    );
    byName.set(name.join(""), { mode: random.pick(MODES), name: name.join(""), oid: random.bytes(OID_BYTES) });
  }
  return [...byName.values()];
}

test("random trees are encoded byte for byte as git mktree does, and parse back", { tags: "sweep" }, async () => {
  const dir = await makeRepository("trees");
  const random = new Random(10);
  const trees = Array.from({ length: 60 }, () => makeEntries(random));
  const lines = trees.map((entries) =>
    entries
      .map(({ mode, name, oid }) => `${mode.toString(8).padStart(6, "0")} ${typeOfMode(mode)} ${toHex(oid)}\t${name}\0`)
      .join(""),
  );
  for (const [index, entries] of trees.entries()) {
    const made = await tryGit(dir, ["mktree", "-z", "--missing"], { stdin: fromByteString(lines[index]!) });
    expect(made.stderr).toBe("");
    const { stdoutBytes } = await tryGit(dir, ["cat-file", "tree", made.stdout.trim()]);
    expect(toByteString(encodeTree(entries))).toBe(toByteString(stdoutBytes));
    const parsed = parseTree(new Uint8Array(stdoutBytes));
    const byName = (a: TreeEntry, b: TreeEntry): number => (a.name < b.name ? -1 : 1);
    expect(parsed.toSorted(byName)).toEqual(entries.toSorted(byName));
    expect(encodeTree(parsed)).toEqual(new Uint8Array(stdoutBytes));
  }
});

test("the empty tree is no bytes", () => {
  expect(encodeTree([])).toHaveLength(0);
  expect(parseTree(new Uint8Array(0))).toEqual([]);
});

test("modes name their types as git reads them", () => {
  expect(MODES.map(typeOfMode)).toEqual(["tree", "blob", "blob", "blob", "commit"]);
  expect(typeOfMode(0o100664)).toBe("blob");
  expect(typeOfMode(0)).toBe("commit");
  expect(MODES.filter(isTreeMode)).toEqual([TREE_MODE]);
});

test("odd modes of old histories are read", () => {
  const oid = "\x01".repeat(OID_BYTES);
  const [padded, groupWritable] = parseTree(fromByteString(`040000 a\0${oid}100664 b\0${oid}`));
  expect(padded).toEqual({ mode: TREE_MODE, name: "a", oid: fromHex("01".repeat(OID_BYTES)) });
  expect(groupWritable!.mode).toBe(0o100664);
});

test.each([
  ["no space", "100644"],
  ["no mode", ` a\0${"x".repeat(OID_BYTES)}`],
  ["a mode that is not octal", `100684 a\0${"x".repeat(OID_BYTES)}`],
  ["no NUL", "100644 a"],
  ["a short oid", `100644 a\0${"x".repeat(OID_BYTES - 1)}`],
  ["a cut second entry", `100644 a\0${"x".repeat(OID_BYTES)}100`],
])("a tree with %s is corrupt", (_, content) => {
  expect(() => parseTree(fromByteString(content))).toThrow(
    expect.objectContaining({ code: "corrupt-object", data: expect.objectContaining({ type: "tree" }) }),
  );
});

test("damaged trees parse or are refused, never anything else", () => {
  const random = new Random(11);
  for (let round = 0; round < 500; round++) {
    const content = encodeTree(makeEntries(random));
    if (content.length === 0) continue;
    content[random.below(content.length)] = random.below(256);
    const cut = content.subarray(0, random.below(content.length + 1));
    try {
      for (const { oid } of parseTree(cut)) expect(oid).toHaveLength(OID_BYTES);
    } catch (error) {
      expect(error).toMatchObject({ code: "corrupt-object" });
    }
  }
});
