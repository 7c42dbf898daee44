import { expect, test } from "vitest";
import { Random } from "../../../harness/random.ts";
import { keepLineEnds, lineEndsOf } from "../../../../src/worker/web/parts/line-endings.ts";

/** What a form sends for a text. */
const asSent = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, "\r\n");

test("the kinds of ends, the most frequent first", () => {
  expect(lineEndsOf("a\r\nb\nc\nd\r")).toEqual(["\n", "\r\n", "\r"]);
  expect(lineEndsOf("a")).toEqual([]);
});

test.each([
  ["LF", "a\nb\n"],
  ["CR LF", "a\r\nb\r\n"],
  ["CR", "a\rb\r"],
  ["several", "a\r\nb\nc\rd\n\n\r\n"],
  ["without a last newline", "a\r\nb"],
  ["several, without a last newline", "a\r\nb\nc"],
  ["nothing", ""],
  ["empty lines alone", "\n\n\n"],
])("what was not changed stays, byte for byte: %s", (_, text) => {
  expect(keepLineEnds(text, asSent(text))).toBe(text);
});

test("new lines get the file's usual ends, others keep their own", () => {
  const before = "a\r\nb\nc\r\nd\r\n";
  expect(keepLineEnds(before, "a\r\nb\r\nnew\r\nc\r\nd\r\nlast")).toBe("a\r\nb\nnew\r\nc\r\nd\r\nlast\r\n");
});

test.each([
  ["one\r\ntwo\nthree\r\nfour\n", "two", "TWO"],
  ["one\r\ntwo\nthree\r\nfour\n", "three", "THREE"],
  ["a\rb\r\ntwo\nthree\r\r\nx\n", "two", "TWO"],
  ["a\rb\r\ntwo\nthree\r\r\nx\n", "three", "THREE"],
  ["a\rb\r\ntwo\nthree\r\r\nx\n", "two\nthree", "TWO\nTHREE"],
  ["a\r\nb\nc", "c", "d"],
])("a line that takes another's place has its end: %j, %j becomes %j", (before, old, next) => {
  // Each end within the part is that of the file's line, too.
  const typed = asSent(asSent(before).replaceAll("\r\n", "\n").replace(old, next));
  const ends = (text: string) => text.match(/\r\n|\r|\n/g);
  expect(ends(keepLineEnds(before, typed))).toEqual(ends(before));
  expect(asSent(keepLineEnds(before, typed))).toBe(typed);
});

test("whatever is changed, no lines are joined or parted", () => {
  const random = new Random(32);
  const text = (): string =>
    Array.from(
      { length: random.below(8) },
      () => random.pick(["", "", "a", "b"]) + random.pick(["\n", "\r", "\r\n"]),
    ).join("");
  for (let round = 0; round < 20_000; round++) {
    const before = text() + random.pick(["", "c"]);
    const typed = asSent(text() + random.pick(["", "c"]));
    const lines = asSent(keepLineEnds(before, typed));
    // A last newline may be added.
    expect([typed, `${typed}\r\n`]).toContain(lines);
    expect(keepLineEnds(before, asSent(before))).toBe(before);
  }
});

test("a last newline is kept, and none is added to a file without", () => {
  expect(keepLineEnds("a\nb\n", "a\r\nc")).toBe("a\nc\n");
  expect(keepLineEnds("a\nb", "a\r\nc")).toBe("a\nc");
  expect(keepLineEnds("a\nb", "a\r\nc\r\n")).toBe("a\nc\n");
  expect(keepLineEnds("a\n", "")).toBe("");
});

test("a new file has LF, at its end, too", () => {
  expect(keepLineEnds(null, "a\r\nb")).toBe("a\nb\n");
  expect(keepLineEnds(null, "")).toBe("");
});
