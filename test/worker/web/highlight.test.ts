/** Code in colours: whatever it is, no char of it is lost, and none becomes markup. */
import { expect, test } from "vitest";
import { codeLanguageNamed, codeLanguageOf } from "../../../src/worker/web/parts/code-languages.ts";
import { escapeText } from "../../../src/worker/web/parts/code.tsx";
import { highlight, Highlighter, MAX_COLOURED_CHARS } from "../../../src/worker/web/parts/highlight.ts";
import { Random } from "../../harness/random.ts";
import { testSome } from "../../harness/sweep.ts";

/** One extension of each language. */
const EXTENSIONS = (
  "js ts tsx json py java c cpp cs m mm go rs php rb swift kt scala dart sh ps1 pl lua r hs ex sql html vue xml css " +
  "scss less yaml toml ini mk diff clj jl groovy ml fs proto zig glsl"
).split(" ");
const FILES = [...EXTENSIONS.map((extension) => `some.${extension}`), "Dockerfile", "Makefile"];

const MARKUP = /<span class="h[a-z]">|<\/span>/g;

/** Pieces of which texts are made that surprise tokenizers. */
const PIECES = [
  ..."aA_09 \t()[]{}<>/*\\'\"`$#@:;,.=-+!?%&|~^\n\n\n".split(""),
  ...'// /* */ ${ #{ \'\'\' """ <!-- --> </ <? <![CDATA[ => -> << <<EOF r#" q( s/ y| %w @{ url( 0x 1. é 名 \u{1f600}'.split(
    " ",
  ),
  ..."let function class def if import type for async begin end @media =begin interface select from".split(" "),
];

testSome(6, FILES, "%s: all chars are there, escaped, each line by itself", (name) => {
  const language = codeLanguageOf(name)!;
  expect(language).not.toBe(null);
  const random = new Random(FILES.indexOf(name) + 1);
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: 1 + random.below(120) }, () => random.pick(PIECES)).join("");
    const { html } = highlight(text, language);
    const lines = html.split("\n");
    expect(lines.map((line) => line.replace(MARKUP, "")).join("\n")).toBe(escapeText(text));
    for (const line of lines) {
      let depth = 0;
      for (const [tag] of line.matchAll(MARKUP)) expect((depth += tag === "</span>" ? -1 : 1)).toBeLessThan(2);
      expect(depth).toBe(0);
    }
  }
});

test.each([
  ["a.ts", "const a = 1; // one", "hk hd hn hc"],
  ["a.py", 'def f():\n  """two\n  lines"""', "hk hd hs hs"],
  ["a.c", "/* a\n b */ int c;", "hc hc ht"],
  ["a.go", "x := `a\nb`", "hs hs"],
  ["a.tsx", 'return <b title="c">d</b>;', "hk ht hs ht"],
  ["a.php", "<?php $a = 'b'; # c", "hm hs hc"],
  ["a.ex", 'def f, do: :a # "b', "hk hd hn hn hc"],
  ["a.zig", 'const a = @import("std");', "hk hb hs"],
  ["Makefile", "all: b $(C)\nD := 1", "hd hd"],
  ["a.yaml", "a:\n  b: |\n    c: d\n  e: 'f'", "hn hm hn hm hs hn hm hs"],
  ["a.diff", "--- a\n+++ b\n@@ -1 +1 @@\n-c\n+d", "hx hi hm hx hi"],
])("%s: %j", (name, text, classes) => {
  const { html } = highlight(text, codeLanguageOf(name));
  expect([...html.matchAll(/class="(h[a-z])"/g)].map(([, one]) => one).join(" ")).toBe(classes);
});

test("a language is found by what people call it", () => {
  for (const [name, file] of [
    ["ts", "a.ts"],
    ["TypeScript", "a.ts"],
    ["bash", "a.sh"],
    ["c++", "a.cpp"],
    ["py", "a.py"],
  ])
    expect(codeLanguageNamed(name!), name).toBe(codeLanguageOf(file!));
  for (const name of ["", "nothing", "constructor", "__proto__", "txt", "../a.ts/x"])
    expect(codeLanguageNamed(name), name).toBe(null);
});

test("what is too long is not coloured, and that is told", () => {
  const language = codeLanguageOf("a.ts");
  const long = highlight(`const a = 1;\nconst b = "${"x".repeat(2_000)}";\nconst c = 1;`, language);
  expect(long.isPartial).toBe(true);
  const [first, second, third] = long.html.split("\n");
  expect([first!.includes("span"), second!.includes("span"), third!.includes("span")]).toEqual([true, false, true]);
  const large = highlight("const a = 1;\n".repeat(MAX_COLOURED_CHARS / 13 + 1), language);
  expect([large.isPartial, large.html.includes("span")]).toEqual([true, false]);
  expect(highlight("plain <b>", null)).toEqual({ html: "plain &lt;b&gt;", isPartial: false });
});

/** Lines that took the longest of many thousand, on each of which a tokenizer looks far ahead. */
const SLOW = [
  ["a.pl", "${~"],
  ["a.pl", "@media <!--"],
  ["a.yaml", "-> "],
  ["a.yaml", "-> #:"],
  ["a.mk", '"""//'],
  ["a.jl", "1.&amp;"],
  ["a.swift", "`"],
  ["a.ts", "=>->0x0"],
  ["a.ts", "async x<"],
  ["a.rs", "%%"],
  ["a.rb", "%w "],
  ["a.scala", '+"""<!--? '],
] as const;

testSome(2, SLOW, "%s of %j takes a bounded time", ([name, unit]) => {
  const line = unit.repeat(500).slice(0, 499);
  const start = process.cpuUsage().user;
  highlight(`${line}\n`.repeat(MAX_COLOURED_CHARS / 500), codeLanguageOf(name));
  // Seconds where other processes are at work; without the limits, minutes.
  expect((process.cpuUsage().user - start) / 1_000).toBeLessThan(5_000);
});

test("a tokenizer that remembers without end is given up", () => {
  const highlighter = new Highlighter(codeLanguageOf("a.ts"));
  // Each of these variables would be looked for among all before it.
  highlighter.line("function f() { let");
  for (let i = 0; i < 20_000; i++) highlighter.line(`a${i},`);
  expect(highlighter.isGivenUp).toBe(true);
});
