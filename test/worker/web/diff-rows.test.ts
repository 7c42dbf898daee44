import { expect, test } from "vitest";
import { cutPatch } from "../../../src/object/diff/patch-window.ts";
import { splitRows, unifiedRows } from "../../../src/worker/web/parts/diff-rows.ts";

const HEAD = "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n";
const PATCH = `${HEAD}@@ -1,4 +1,4 @@ heading <b>\n same &\r\n-old text\n-gone\r\n+old <i> text\n+new\n last\n\\ No newline at end of file\n`;

/** The cells of each row, without tags; `[…]` is what is marked. */
const cells = (html: string): string[] =>
  [...html.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/gs)]
      .map(([, cell]) => cell!.replace(/<mark>(.*?)<\/mark>/g, "[$1]").replace(/<\/?a[^>]*>/g, ""))
      .join("|"),
  );

test("unified rows have both numbers, a sign and the line, escaped", () => {
  const { html, count, isCut } = unifiedRows(PATCH, "F3", 100);
  expect(cells(html)).toEqual([
    "@@ -1,4 +1,4 @@ heading &lt;b&gt;",
    "1|1||same &amp;",
    "2||−|old text",
    "3||−|gone␍",
    "|2|+|old [&lt;i&gt; ]text",
    "|3|+|new",
    "4|4||last",
    "No newline at end of file",
  ]);
  expect([count, isCut]).toEqual([8, false]);
  expect([...html.matchAll(/ id="(\w+)" href="#(\w+)"/g)].map(([, id, to]) => [id, to])).toEqual(
    ["F3R1", "F3L2", "F3L3", "F3R2", "F3R3", "F3R4"].map((id) => [id, id]),
  );
});

test("split rows have the sides beside each other", () => {
  expect(cells(splitRows(PATCH, "F0", 100).html)).toEqual([
    "@@ -1,4 +1,4 @@ heading &lt;b&gt;",
    "1|same &amp;|1|same &amp;",
    "2|old text|2|old [&lt;i&gt; ]text",
    "3|gone␍|3|new",
    "4|last|4|last",
    "No newline at end of file",
  ]);
  expect(cells(splitRows("@@ -1 +1,2 @@\n-a\n+b\n+c\n", "F0", 100).html).slice(1)).toEqual(["1|a|1|b", "||2|c"]);
});

test("lines that look like heads of a patch are lines", () => {
  const patch = `${HEAD}@@ -1,2 +1,2 @@\n--- a/x\n-@@ -1 +1 @@\n+++ b/x\n+diff --git a/x b/x\n`;
  expect(cells(unifiedRows(patch, "F0", 100).html).slice(1)).toEqual([
    "1||−|-- a/x",
    "2||−|@@ -1 +1 @@",
    "|1|+|++ b/x",
    "|2|+|diff --git a/x b/x",
  ]);
});

test("a file whose type changed has two patches, without their heads", () => {
  const second = HEAD.replace("--- a/x", "--- /dev/null");
  const patch = `${HEAD}@@ -1 +0,0 @@\n-a\n${second}@@ -0,0 +1 @@\n+b\n`;
  expect(cells(unifiedRows(patch, "F0", 100).html)).toEqual(["@@ -1 +0,0 @@", "1||−|a", "@@ -0,0 +1 @@", "|1|+|b"]);
});

test("what is hidden is written out; characters of two code units are not cut", () => {
  const rows = (old: string, next: string) =>
    cells(unifiedRows(`@@ -1 +1 @@\n-${old}\n+${next}\n`, "F0", 100).html).slice(1);
  expect(rows("a\u202eb \u0007", "<script>")).toEqual(["1||−|a[U+202E]b ␇", "|1|+|&lt;script&gt;"]);
  expect(rows("same \u{1f600} same", "same \u{1f601} same")).toEqual([
    "1||−|same [\u{1f600}] same",
    "|1|+|same [\u{1f601}] same",
  ]);
  // U+1F600 and U+1FA00 end alike.
  expect(rows("same \u{1f600} same", "same \u{1fa00} same")[0]).toBe("1||−|same [\u{1f600}] same");
});

test("rows end at the limit", () => {
  expect(unifiedRows(PATCH, "F0", 3)).toMatchObject({ count: 3, isCut: true });
  expect(unifiedRows(PATCH, "F0", 0)).toEqual({ html: "", count: 0, isCut: true });
  expect(unifiedRows(HEAD, "F0", 0)).toEqual({ html: "", count: 0, isCut: false });
});

test("parts of a patch together show all its lines, with their numbers", () => {
  const body = Array.from({ length: 12_000 }, (_, i) =>
    i % 3 === 0 ? ` same ${i}` : i % 3 === 1 ? `-old ${i}` : `+new ${i}`,
  );
  const patch = `${HEAD}@@ -1,8000 +1,8000 @@\n${body.join("\n")}\n@@ -9000 +9000 @@\n-x\n+y\n`;
  const bytes = new TextEncoder().encode(patch);
  const shown: string[] = [];
  for (let from: number | null = 0; from !== null;) {
    const { part, nextLine, lineCount } = cutPatch(bytes, from);
    expect(lineCount).toBe(12_008);
    shown.push(...cells(unifiedRows(new TextDecoder().decode(part), "F0", Infinity).html));
    expect(nextLine === null || nextLine > from).toBe(true);
    from = nextLine;
  }
  const whole = cells(unifiedRows(patch, "F0", Infinity).html);
  const isLine = (row: string): boolean => !row.startsWith("@@");
  // Marks go with the lines that are shown together.
  const plain = (row: string): string => row.replace(/[[\]]/g, "");
  expect(shown.filter(isLine).map(plain)).toEqual(whole.filter(isLine).map(plain));
  expect(cutPatch(bytes, 12_008)).toMatchObject({ nextLine: null, part: { length: 0 } });
});
