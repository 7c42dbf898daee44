import { expect, test } from "vitest";
import { diffLines } from "../../../src/base/lines/line-diff.ts";
import { type NumberedLines, VersionLines } from "../../../src/object/diff/version-lines.ts";
import { Random } from "../../harness/random.ts";

/** A version with some lines changed, added or removed; sometimes empty, or without the last LF. */
function edit(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let left = random.below(4); left > 0; left--) {
    const added = Array.from({ length: random.below(4) }, () => `${"x".repeat(random.below(60))}${random.below(30)}`);
    edited.splice(random.below(edited.length + 1), random.below(4), ...added);
  }
  return edited;
}

test("versions that share the numbering of their lines differ as two texts by themselves do", () => {
  const random = new Random(7);
  const versions = new VersionLines();
  let lines = Array.from({ length: 300 }, (_, i) => `line ${i % 50}`);
  let near: NumberedLines | undefined;
  const numbered: NumberedLines[] = [];
  for (let n = 0; n < 600; n++) {
    lines = n % 150 === 149 ? [] : edit(random, n % 150 === 0 ? Array.from({ length: 300 }, (_, i) => `${i}`) : lines);
    const text = Buffer.from(lines.join("\n") + (random.below(3) === 0 ? "" : "\n"));
    const next = versions.number(text, near);
    expect([...next.lines.starts]).toEqual([...versions.number(text).lines.starts]);
    expect([...next.classes]).toEqual([...versions.number(text).classes]);
    for (const old of [near, numbered[random.below(numbered.length)]]) {
      if (old === undefined) continue;
      expect(versions.compare(old, next)).toEqual(diffLines(old.lines.bytes, text, { trimTail: true }));
      expect(versions.compare(next, old)).toEqual(diffLines(text, old.lines.bytes, { trimTail: true }));
    }
    numbered.push(next);
    near = next;
  }
});

test("of a neighbour's text only the lines that differ are split", () => {
  const versions = new VersionLines();
  const lines = Array.from({ length: 5_000 }, (_, i) => `a line of the text, number ${i}\n`);
  const first = versions.number(Buffer.from(lines.join("")));
  lines[2_500] = "another line\n";
  const second = versions.number(Buffer.from(lines.join("")), first);
  expect(second.workBytes).toBeLessThan(100);
  expect(versions.compare(first, second)).toEqual([{ oldStart: 2_500, oldLines: 1, nextStart: 2_500, nextLines: 1 }]);
  // Also where the first and the last change are far from each other, and lines moved between them.
  lines[3] = "changed near the head\n";
  lines.splice(1_000, 700);
  lines.splice(3_000, 0, ...Array.from({ length: 20 }, (_, i) => `added, number ${i}\n`), "}\n");
  lines[4_200] = "changed near the tail\n";
  const third = versions.number(Buffer.from(lines.join("")), second);
  expect(third.workBytes).toBeLessThan(1_000);
  const again = new VersionLines();
  const [old, next] = [second, third].map(({ lines: { bytes } }) => again.number(bytes));
  expect(versions.compare(second, third)).toEqual(again.compare(old!, next!));
});
