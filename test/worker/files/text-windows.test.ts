import { expect, test } from "vitest";
import { readLine, readWindows, skipLines, skipLinesBack } from "../../../src/worker/files/text-windows.ts";
import { Random } from "../../harness/random.ts";

const UTF_8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Lines of many lengths: few bytes, or more than a window has. */
function makeText(seed: number): Buffer {
  const random = new Random(seed);
  const lines = Array.from({ length: 2 + random.below(3_000) }, () => {
    const length = random.below(50) === 0 ? random.below(400_000) : random.below(40);
    return ["a", "ä", "\u{1f600}", "\r", "\ufeff"][random.below(5)]!.repeat(length);
  });
  return Buffer.from(lines.join("\n") + (random.below(2) === 0 ? "\n" : ""));
}

function splitLines(text: Buffer): string[] {
  const lines = UTF_8.decode(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])("windows have the lines of the text (%i)", (seed) => {
  const text = makeText(seed);
  const lines = splitLines(text);
  for (const from of [0, 1, lines.length - 1, lines.length, lines.length + 5]) {
    const found: string[] = [];
    let last = from;
    for (const { first, lines: some, start, end } of readWindows(text, from)) {
      expect(first).toBe(last);
      last += some.length;
      found.push(...some);
      expect(skipLines(text, start, some.length)).toBe(end);
      expect(skipLinesBack(text, end, some.length)).toBe(start);
    }
    // Of a line of more than a megabyte only that much is read.
    expect(found.map((line) => line.slice(0, 250_000))).toEqual(
      lines.slice(from).map((line) => line.slice(0, 250_000)),
    );
  }
});

test("a line is cut at its characters", () => {
  const text = Buffer.from("one\nä€\u{1f600}x\n\nlast");
  expect([1, 3].map((line) => readLine(text, skipLines(text, 0, line), 3))).toEqual(["ä€\ud83d", "las"]);
  expect(readLine(text, skipLines(text, 0, 2), 3)).toBe("");
  expect(skipLinesBack(text, skipLines(text, 0, 3), 9)).toBe(0);
});

test("a text of empty lines", () => {
  const text = Buffer.from("\n\n\n");
  expect([...readWindows(text, 0)].flatMap(({ lines }) => lines)).toEqual(["", "", ""]);
  expect(skipLinesBack(text, 1, 1)).toBe(0);
  expect([...readWindows(Buffer.alloc(0), 0)]).toEqual([]);
});
