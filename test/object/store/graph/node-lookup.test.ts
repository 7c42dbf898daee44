import { expect, test } from "vitest";
import { CommitGraph } from "../../../../src/object/store/graph/commit-graph.ts";

test("commits of pushes whose numbers have the same lowest bits are found at once", { tags: "sweep" }, () => {
  const graph = new CommitGraph();
  const commits = 50_000;
  const startMs = performance.now();
  for (let push = 0; push < 8; push++) {
    // The pushes' numbers are as far apart as the table of 800,000 nodes at most has slots.
    const first = 1 + push * 2 ** 20;
    const nodes = Array.from({ length: commits }, (_, i) => ({ number: first + i, parents: [], tree: 0, time: 0 }));
    graph.append(nodes);
  }
  expect(graph.length).toBe(8 * commits);
  expect(graph.position(7 * 2 ** 20 + commits)).toBeGreaterThanOrEqual(0);
  expect(graph.position(7 * 2 ** 20 + commits + 1)).toBe(-1);
  expect(graph.copy().position(7 * 2 ** 20 + commits)).toBe(graph.position(7 * 2 ** 20 + commits));
  // It takes some 200 ms. Looking for each among those of all other pushes took minutes.
  expect(performance.now() - startMs).toBeLessThan(20_000);
});
