/** fetch.csv: fetches by length of the history, by number of branches, and after very many pushes. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample } from "../../figures/sample.ts";
import { drawBars } from "../charts/bars.ts";
import { drawCurves, type Point } from "../charts/curves.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison, nameSide } from "../markdown.ts";
import { HOW_TO_READ, type Part } from "./part.ts";

const COSTS = ["first byte s", "wall s", "server CPU s"];

export const FETCH: Part = {
  name: "fetch",
  tables: {
    "fetch-sizes": (samples) => tabulate(selectBy(samples, "commits"), [...COSTS, "rows read", "plan ms"]),
    "fetch-branches": (samples) => tabulate(selectBy(samples, "branches"), COSTS),
    "fetch-pushes": (samples) => tabulate(selectBy(samples, "pushes"), ["ms", ...COSTS]),
  },
  charts: [
    {
      name: "fetch-sizes",
      alt: "Curves: seconds until the first byte and until the last one of a whole clone, by number of commits, native git beside Holdfast",
      draw: drawSizes,
    },
    {
      name: "fetch-branches",
      alt: "Bars: wall seconds of listing and fetching one and all of very many branches, native git beside Holdfast",
      draw: drawBranches,
    },
  ],
};

/** The samples whose work has such a column: each kind of work here has one of its own. */
function selectBy(samples: readonly Sample[], column: string): Sample[] {
  return samples.filter(({ work }) => work[column] !== undefined);
}

function tabulate(samples: readonly Sample[], measures: readonly string[]): string {
  const known = measures.filter((measure) => samples.some((sample) => sample.measure === measure));
  return known.length === 0 ? "" : formatComparison(samples, { measures: known });
}

function drawSizes(samples: readonly Sample[]): TopLevelSpec | null {
  const clones = selectSamples(selectBy(samples, "commits"), { work: "clone" }, ["first byte s", "wall s"]);
  const points = compareToNative(clones).map(({ work, measure, side, summary }): Point => {
    const { median, low, high } = summary;
    return { panel: measure, curve: nameSide(side), x: Number(work["commits"]), y: median, low, high };
  });
  if (points.length === 0) return null;
  const words = {
    title: "A whole clone by number of commits",
    subtitle: "a raw client; medians; band: spread",
    across: "commits",
    up: "s",
  };
  return drawCurves(points, words, { isLogX: true, isLogY: true });
}

function drawBranches(samples: readonly Sample[]): TopLevelSpec | null {
  const chosen = selectSamples(selectBy(samples, "branches"), {}, ["wall s"]);
  const bars = compareToNative(chosen).map((one) => ({
    ...one,
    panel: String(one.work["work"]),
    place: String(one.work["branches"]),
  }));
  if (bars.length === 0) return null;
  const title = "A repository with very many branches";
  return drawBars(bars, { title, subtitle: HOW_TO_READ, across: "branches", up: "wall s" }, 6);
}
