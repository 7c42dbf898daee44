import { expect, test } from "vitest";
import { foldProfile } from "../../../../scripts/bench/profile/call-tree.ts";
import { drawFlameGraph } from "../../../../scripts/bench/profile/flame-graph.ts";
import { makeProfile, PUSH } from "./made-up-profile.ts";

const CAPTION = { title: "CPU of <push> & more", lines: ["9 ms", "  indented"] };

/** Holds a text against the rules that are easily broken: every element is closed in turn, no `<` or `&` is bare. */
function expectWellFormed(xml: string): void {
  const open: string[] = [];
  const rest = xml.replace(
    /<(\/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<]*")*)(\/?)>/g,
    (_, end: string, name: string, _attributes, empty: string) => {
      if (end !== "") expect(open.pop()).toBe(name);
      else if (empty === "") open.push(name);
      return "";
    },
  );
  expect(open).toEqual([]);
  expect(rest).not.toContain("<");
  expect(xml.replace(/&(amp|lt|gt|quot);/g, "")).not.toContain("&");
}

/** Widths of the frames by the beginning of what they show on hover. */
function readFrames(svg: string): Map<string, number> {
  const frames = svg.matchAll(/<g><title>([^<]*)<\/title><rect x="[\d.]+" y="\d+" width="([\d.]+)"/g);
  return new Map([...frames].map(([, hover, width]) => [hover!, Number(width)]));
}

test("a picture is well-formed whatever functions are called, and the same each time", () => {
  const svg = drawFlameGraph(foldProfile(PUSH), CAPTION);
  expectWellFormed(svg);
  expect(svg).toContain("<title>CPU of &lt;push&gt; &amp; more</title>");
  expect(drawFlameGraph(foldProfile(structuredClone(PUSH)), CAPTION)).toBe(svg);
});

test("frames are as wide as their time, and tell it on hover", () => {
  const frames = readFrames(drawFlameGraph(foldProfile(PUSH), CAPTION));
  const widthOf = (start: string): number => [...frames].find(([hover]) => hover.startsWith(start))![1];
  expect(widthOf("take")).toBeCloseTo((1_580 * 8) / 9 - 0.5, 0);
  expect([...frames.keys()]).toContain(
    "settle · src/repository/push/apply-push.ts:10 · 7.0 ms, 77.8 % · itself 1.0 ms",
  );
  expect([...frames.keys()]).toContain(
    "inflate&lt;Map &amp; &quot;Set&quot;&gt; · wasm · 3.0 ms, 33.3 % · itself 3.0 ms",
  );
});

test("frames narrower than a part of a pixel are left out", () => {
  const samples = Array.from({ length: 10_000 }, (_, i) => (i === 5_000 ? 1 : 0));
  const root = foldProfile(
    makeProfile(
      [
        ["long", "", null],
        ["short", "", null],
      ],
      samples,
    ),
  );
  expect(root.children).toHaveLength(2);
  expect([...readFrames(drawFlameGraph(root, CAPTION)).keys()].some((hover) => hover.startsWith("short"))).toBe(false);
});

test("characters that XML forbids do not come through", () => {
  const root = foldProfile(makeProfile([["bell\u0007", "", null]], [0]));
  const svg = drawFlameGraph(root, CAPTION);
  expect(svg).toContain("bell? · 1.0 ms");
});
