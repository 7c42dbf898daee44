import { expect, test } from "vitest";
import {
  arrangeGraph,
  drawGap,
  drawRow,
  type GraphCommit,
  MAX_LANES,
} from "../../../src/worker/web/parts/commit-graph.ts";
import { Random } from "../../harness/random.ts";

/** Reads commits from lines such as `d: b c`. */
const read = (...lines: readonly string[]): GraphCommit[] =>
  lines.map((line) => {
    const [oid, ...parents] = line.split(/[: ]+/).filter(Boolean);
    return { oid: oid!, parents };
  });

/** A drawing: `*` the commit, `|` what passes it by, `>` where a parent is. */
const sketch = (commits: readonly GraphCommit[], lines: readonly string[] = []): string[] =>
  arrangeGraph(commits, lines).rows.map(({ lane, passing, down }) => {
    const width = Math.max(lane, ...passing, ...down) + 1;
    const chars = Array.from({ length: width }, (_, at) => (at === lane ? "*" : passing.includes(at) ? "|" : " "));
    return `${chars.join("")} >${down.join("")}`;
  });

test("one line of history is one lane, which ends at its root", () => {
  expect(sketch(read("c: b", "b: a", "a:"))).toEqual(["* >0", "* >0", "* >"]);
});

test("a merge opens a lane, which closes where the branches part", () => {
  const commits = read("m: b s", "s: a", "b: a", "a:");
  expect(sketch(commits)).toEqual(["*  >01", "|* >1", "*| >1", " * >"]);
});

test("a merge with many parents opens a lane for each; a parent named twice has one", () => {
  expect(sketch(read("m: a b c d", "n:"))).toEqual(["*    >0123", "||||* >"]);
  expect(sketch(read("m: a a", "a:"))).toEqual(["* >0", "* >"]);
});

test("a tip that nothing leads to takes the first lane that is free", () => {
  expect(sketch(read("x: a", "y: b", "a:", "z: c", "b:"))).toEqual(["* >0", "|* >1", "*| >", "*| >0", "|* >"]);
});

test("a page goes on where the page before has ended", () => {
  const commits = read("m: b s", "s: a", "b: a", "a: r", "r:");
  const second = arrangeGraph(commits.slice(2), ["b", "a"]);
  expect(second.rows.map(({ isLed }) => isLed)).toEqual([true, true, true]);
  expect(sketch(commits.slice(2), ["b", "a"])).toEqual(sketch(commits).slice(2));
});

test("every line leads from a commit to its parent, whatever the history", () => {
  const random = new Random(5);
  for (let round = 0; round < 50; round++) {
    const count = 40;
    const commits = Array.from({ length: count }, (_, i) => {
      const older = count - i - 1;
      const parents = Array.from({ length: random.below(4) }, () => `${i + 1 + random.below(Math.max(older, 1))}`);
      return { oid: `${i}`, parents: [...new Set(older === 0 ? [] : parents)] };
    });
    const { rows } = arrangeGraph(commits, []);
    /** What each lane leads to, as a reader of the drawing follows it. */
    let lanes = new Map<number, string>();
    for (const [i, { lane, isLed, passing, down }] of rows.entries()) {
      const { oid, parents } = commits[i]!;
      expect(isLed).toBe([...lanes.values()].includes(oid));
      if (isLed) expect(lanes.get(lane)).toBe(oid);
      const below = new Map(passing.map((at) => [at, lanes.get(at)!]));
      expect([...lanes].filter(([at]) => !passing.includes(at)).map(([, to]) => to)).toEqual(isLed ? [oid] : []);
      const fresh = down.filter((at) => !below.has(at));
      const missing = parents.filter((parent) => ![...below.values()].includes(parent));
      expect(fresh.length).toBe(missing.length);
      fresh.forEach((at, n) => below.set(at, missing[n]!));
      expect(parents.every((parent) => down.some((at) => below.get(at) === parent))).toBe(true);
      lanes = below;
    }
  }
});

test("a drawing has as many lanes as it needs, up to a limit", () => {
  const many = read(`m: ${Array.from({ length: 30 }, (_, i) => `p${i}`).join(" ")}`, "p0:", "p29:");
  const { rows, width } = arrangeGraph(many, []);
  expect(width).toBe(MAX_LANES);
  for (const row of rows) {
    const drawn = drawRow(row, width) + drawGap(row, width);
    for (const [, x] of drawn.matchAll(/[MC ](\d+) [0-2]/g)) expect(Number(x)).toBeLessThan(width * 14);
    expect(drawn).toMatch(/^(<svg [^<>]*aria-hidden="true">(<path class="[a-z0-9 -]+" d="[A-Z0-9h ]+"\/>)*<\/svg>)+$/);
  }
  expect(arrangeGraph([], [])).toEqual({ rows: [], width: 1 });
});
