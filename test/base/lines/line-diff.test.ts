import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffLines, type LineChange, type LineDiffOptions } from "../../../src/base/lines/line-diff.ts";
import { tryGit } from "../../harness/git.ts";
import { Random } from "../../harness/random.ts";
import { makeTempDir } from "../../harness/temp-dir.ts";
import { testSome } from "../../harness/sweep.ts";
import { randomPair } from "../../object/diff/random-texts.ts";

type Pair = readonly [Uint8Array, Uint8Array];

/** The changes that git finds in each of some pairs. */
async function gitChanges(pairs: readonly Pair[], ...options: readonly string[]): Promise<LineChange[][]> {
  const dir = makeTempDir("diff");
  for (const [side, name] of ["old", "new"].entries()) {
    mkdirSync(join(dir, name));
    for (const [i, pair] of pairs.entries()) writeFileSync(join(dir, name, String(i)), pair[side]!);
  }
  const { code, stdoutBytes } = await tryGit(dir, ["diff", "--no-index", "--text", ...options, "old", "new"]);
  expect(code).toBe(1);
  const changes: LineChange[][] = pairs.map(() => []);
  for (const patch of stdoutBytes
    .toString("latin1")
    .split(/^diff --git /m)
    .slice(1)) {
    changes[Number(/^a\/old\/(\d+) /.exec(patch)![1])] = parseChanges(patch);
  }
  return changes;
}

function parseChanges(patch: string): LineChange[] {
  const changes: LineChange[] = [];
  let [i, j] = [0, 0];
  let open: { oldStart: number; oldLines: number; nextStart: number; nextLines: number } | undefined;
  for (const line of patch.slice(patch.search(/^@@ /m)).split("\n").slice(0, -1)) {
    const header = /^@@ -(\d+)(,0)?(?:,\d+)? \+(\d+)(,0)?(?:,\d+)? @@/.exec(line);
    if (header !== null) {
      i = Number(header[1]) - (header[2] === undefined ? 1 : 0);
      j = Number(header[3]) - (header[4] === undefined ? 1 : 0);
      open = undefined;
    } else if (line.startsWith(" ")) {
      i++;
      j++;
      open = undefined;
    } else if (!line.startsWith("\\")) {
      if (open === undefined) changes.push((open = { oldStart: i, oldLines: 0, nextStart: j, nextLines: 0 }));
      if (line.startsWith("-")) i = open.oldStart + ++open.oldLines;
      else j = open.nextStart + ++open.nextLines;
    }
  }
  return changes;
}

const CALLS: readonly (readonly [string, LineDiffOptions, string[]])[] = [
  ["git diff", {}, ["-U1"]],
  ["git diff without the indent heuristic", { indentHeuristic: false }, ["-U1", "--no-indent-heuristic"]],
  ["git diff -U0", { trimTail: true }, ["-U0"]],
  ["git diff --histogram", { algorithm: "histogram" }, ["-U1", "--histogram"]],
];

testSome(1, CALLS, "the changes are those of %s", async ([, options, gitOptions]) => {
  const random = new Random(gitOptions.join().length);
  const pairs: Pair[] = Array.from({ length: 400 }, (__, i) => randomPair(random, i % 20 === 0 ? 800 : 40));
  const expected = await gitChanges(pairs, ...gitOptions);
  expect(expected.filter((changes) => changes.length > 0).length).toBeGreaterThan(300);
  for (const [i, [old, next]] of pairs.entries()) {
    expect(diffLines(old, next, options), `pair ${i}`).toEqual(expected[i]);
  }
});

/** Long texts in which nearly all lines differ, or all are from a small set, so that the search
 * takes its shortcuts. */
function longPair(random: Random, vocabulary: number): Pair {
  const text = (): Buffer =>
    Buffer.from(
      Array.from({ length: 1500 }, () =>
        `${random.below(vocabulary)}\n`.repeat(1 + random.below(30) * random.below(2)),
      ).join(""),
    );
  return [text(), text()];
}

testSome(1, ["--histogram", "--diff-algorithm=myers"], "long texts with little in common, by %s", async (option) => {
  const random = new Random(11);
  const pairs = [4, 50, 1000, 20_000].map((vocabulary) => longPair(random, vocabulary));
  const expected = await gitChanges(pairs, "-U1", option);
  const algorithm = option === "--histogram" ? "histogram" : "myers";
  for (const [i, [old, next]] of pairs.entries()) expect(diffLines(old, next, { algorithm })).toEqual(expected[i]);
});

test("an empty text has no lines, and the newline at the end is part of the line", () => {
  const diff = (old: string, next: string): number[][] =>
    diffLines(Buffer.from(old), Buffer.from(next)).map((change) => Object.values(change) as number[]);
  expect(diff("", "")).toEqual([]);
  expect(diff("", "a")).toEqual([[0, 0, 0, 1]]);
  expect(diff("a\n", "")).toEqual([[0, 1, 0, 0]]);
  expect(diff("a\nb", "a\nb\n")).toEqual([[1, 1, 1, 1]]);
  expect(diff("a\r\nb\n", "a\nb\n")).toEqual([[0, 1, 0, 1]]);
});

test(
  "what two texts cost is bounded; the rest counts as changed, and the changes are still right",
  { tags: "sweep" },
  () => {
    const random = new Random(4);
    const text = (): string[] => Array.from({ length: 60_000 }, () => String(random.below(40)));
    const [old, next] = [text(), text()];
    for (const algorithm of ["myers", "histogram"] as const) {
      const changes = diffLines(Buffer.from(`${old.join("\n")}\n`), Buffer.from(`${next.join("\n")}\n`), { algorithm });
      const made: string[] = [];
      let at = 0;
      for (const { oldStart, oldLines, nextStart, nextLines } of changes) {
        made.push(...old.slice(at, oldStart), ...next.slice(nextStart, nextStart + nextLines));
        at = oldStart + oldLines;
      }
      expect([...made, ...old.slice(at)]).toEqual(next);
    }
  },
);
