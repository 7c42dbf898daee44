import { expect, test } from "vitest";
import { keepLineEnds, lineEndsOf } from "../../../src/repository/commit/line-endings.ts";

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

test("changed lines get the file's usual ends, others keep their own", () => {
  const before = "a\r\nb\nc\r\nd\r\n";
  expect(keepLineEnds(before, "a\r\nb\r\nnew\r\nc\r\nd\r\nlast")).toBe("a\r\nb\nnew\r\nc\r\nd\r\nlast\r\n");
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
