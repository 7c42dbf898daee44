import { beforeAll, expect, test } from "vitest";
import { mergeLines } from "../../../src/object/diff/merge-lines.ts";
import { git, makeRepository, tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { randomTrio } from "./random-texts.ts";

const SIDES = ["base", "ours", "theirs"] as const;
const random = new Random(3);
/** Random ones, without those that git decides without comparing lines. */
const trios = Array.from({ length: 600 }, (_, i) => randomTrio(random, i % 20 === 0 ? 300 : 30)).filter(
  ([base, ours, theirs]) => !base.equals(ours) && !base.equals(theirs) && !ours.equals(theirs),
);
let dir: string;

beforeAll(async () => {
  dir = await makeRepository("merges", "--bare");
  const stream: Buffer[] = [];
  for (const [side, name] of SIDES.entries()) {
    stream.push(Buffer.from(`commit refs/heads/${name}\ncommitter A <a@b> 1 +0000\ndata 0\n`));
    if (side > 0) stream.push(Buffer.from("from refs/heads/base\n"));
    for (const [i, trio] of trios.entries()) {
      stream.push(Buffer.from(`M 100644 inline ${i}\ndata ${trio[side]!.length}\n`), trio[side]!, Buffer.from("\n"));
    }
  }
  const { code } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: Buffer.concat(stream) });
  expect(code).toBe(0);
});

/** Git's merge of each trio. */
async function gitMerges(...config: readonly string[]): Promise<Buffer[]> {
  const { stdout } = await tryGit(dir, [...config, "merge-tree", "--write-tree", "ours", "theirs"]);
  const tree = stdout.slice(0, 40);
  const stdin = trios.map((_, i) => `${tree}:${i}\n`).join("");
  const { stdoutBytes } = await tryGit(dir, ["cat-file", "--batch=%(objectsize)"], { stdin });
  let at = 0;
  return trios.map(() => {
    const start = stdoutBytes.indexOf("\n", at) + 1;
    const end = start + Number(stdoutBytes.toString("latin1", at, start));
    at = end + 1;
    return stdoutBytes.subarray(start, end);
  });
}

test("a merge is what git makes of it, conflicts and all", { tags: "sweep" }, async () => {
  const expected = await gitMerges();
  let conflictCount = 0;
  for (const [i, trio] of trios.entries()) {
    const { bytes, conflicts } = mergeLines(...trio, { labels: { ours: "ours", theirs: "theirs" } });
    expect(Buffer.from(bytes).toString("latin1"), `trio ${i}`).toBe(expected[i]!.toString("latin1"));
    expect(conflicts.length).toBe(expected[i]!.toString("latin1").match(/^<<<<<<< ours\r?$/gm)?.length ?? 0);
    conflictCount += conflicts.length;
  }
  expect(conflictCount).toBeGreaterThan(200);
});

test("with the base shown, too", async () => {
  const expected = await gitMerges("-c", "merge.conflictStyle=diff3");
  const labels = { ours: "ours", theirs: "theirs", base: await git(dir, "rev-parse", "--short", "base") };
  for (const [i, trio] of trios.entries()) {
    const { bytes } = mergeLines(...trio, { labels, showBase: true });
    expect(Buffer.from(bytes).toString("latin1"), `trio ${i}`).toBe(expected[i]!.toString("latin1"));
  }
});

test("conflicts name the lines of all three texts", () => {
  const text = (...lines: string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const base = text("1", "2", "3", "4", "5", "6", "7", "8", "9");
  const ours = text("0", "1", "2", "ours", "4", "5", "6", "7", "8", "9");
  const theirs = text("1", "2", "theirs", "too", "4", "5", "6", "7", "9");
  const { bytes, conflicts } = mergeLines(base, ours, theirs, {
    labels: { ours: "a", theirs: "b:c" },
    markerLength: 9,
  });
  expect(conflicts).toEqual([{ base: { start: 2, end: 3 }, ours: { start: 3, end: 4 }, theirs: { start: 2, end: 4 } }]);
  expect(Buffer.from(bytes).toString()).toBe(
    "0\n1\n2\n<<<<<<<<< a\nours\n=========\ntheirs\ntoo\n>>>>>>>>> b:c\n4\n5\n6\n7\n9\n",
  );
});
