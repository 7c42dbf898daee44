/** store.csv: files that are saved in loops, every save a sample. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample, Work } from "../../figures/sample.ts";
import { quantile } from "../../figures/summary.ts";
import { drawCurves, type Point } from "../charts/curves.ts";
import { drawScatter } from "../charts/scatter.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison, formatPercentiles, nameSide } from "../markdown.ts";
import type { Part } from "./part.ts";

const LOOPS = ["modify", "add"];

/** Where the curves of percentiles have their points. */
const SHARES = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

export const STORE: Part = {
  name: "store",
  tables: {
    "store-loops": (samples) => formatOr(formatPercentiles, selectSaves(selectSamples(samples, { phase: LOOPS }))),
    "store-steps": (samples) => {
      const steps = selectSamples(samples, { phase: LOOPS, step: ["add", "commit", "pull", "push"] }, ["ms"]);
      return formatOr(formatComparison, leaveOut(steps, ["by"]));
    },
    "store-branches": (samples) =>
      formatOr(
        formatComparison,
        leaveOut(selectSamples(samples, { phase: "pull" }), ["phase", "by", "writers", "repositories"]),
      ),
    "store-contention": (samples) => formatOr(formatPercentiles, selectSaves(samples.filter(isContention))),
    "store-merges": (samples) => formatOr(formatMerges, nameApi(samples.filter(isContention))),
  },
  charts: [
    {
      name: "store-samples",
      alt: "Dots: milliseconds of each single save in the order in which they were made, with lines at the 50th, 90th and 99th percentile, for native git, git with Holdfast and saves by its API",
      draw: drawSamples,
    },
    {
      name: "store-percentiles",
      alt: "Curves: milliseconds of a save from the 50th to the 99.9th percentile, one curve for each number of writers",
      draw: drawPercentiles,
    },
    {
      name: "store-branches",
      alt: "Curves: milliseconds of the first pull of a repository by its number of branches, native git beside Holdfast",
      draw: drawBranches,
    },
  ],
};

function formatOr(format: (samples: readonly Sample[]) => string, samples: readonly Sample[]): string {
  return samples.length === 0 ? "" : format(samples);
}

function formatMerges(samples: readonly Sample[]): string {
  const measures = ["merges per save", "conflicts per save", "retries per save"];
  return formatComparison(samples, { measures, hasRatios: false });
}

/** The same without columns which say nothing here. */
function leaveOut(samples: readonly Sample[], columns: readonly string[]): Sample[] {
  return samples.map(({ work, ...rest }) => ({
    ...rest,
    work: Object.fromEntries(Object.entries(work).filter(([column]) => !columns.includes(column))),
  }));
}

function isContention({ work }: Sample): boolean {
  return String(work["phase"]).startsWith("contention");
}

/** Whole saves, by git's commands together or by one request of the API, which becomes a side of its own beside git's. */
function selectSaves(samples: readonly Sample[]): Sample[] {
  return nameApi(selectSamples(samples, { step: ["total", "save"] }, ["ms"]));
}

function nameApi(samples: readonly Sample[]): Sample[] {
  const named = samples.map((sample) => (sample.work["by"] === "api" ? { ...sample, side: "Holdfast API" } : sample));
  return leaveOut(named, ["by", "step"]);
}

/** A loop's saves. */
interface Saves {
  readonly work: Work;
  readonly side: string;
  readonly values: readonly number[];
}

/** What stands together in the charts comes together, and numbers come in their order. */
function groupSaves(samples: readonly Sample[]): Saves[] {
  const saves = selectSaves(selectSamples(samples, { phase: LOOPS }));
  const groups = Map.groupBy(saves, ({ work, side }) => JSON.stringify([work, side]));
  const loops = [...groups.values()].map((group) => ({
    work: group[0]!.work,
    side: group[0]!.side,
    values: group.map(({ value }) => value),
  }));
  return loops.toSorted((a, b) => nameLoop(a).localeCompare(nameLoop(b), "en", { numeric: true }));
}

function nameLoop({ work: { phase, writers, repositories, files } }: Saves): string {
  return `${phase} ${writers} × ${repositories} × ${files}`;
}

/** The loops of the fewest and of the most writers, in the largest repositories: a panel for each way of saving, beside the others of
 * its loop. */
function drawSamples(samples: readonly Sample[]): TopLevelSpec | null {
  const loops = groupSaves(samples);
  if (loops.length === 0) return null;
  const listNumbers = (column: string): number[] => loops.map(({ work }) => Number(work[column]));
  const [writers, files] = [listNumbers("writers"), Math.max(...listNumbers("files"))];
  const ends = [Math.min(...writers), Math.max(...writers)];
  const chosen = loops.filter(({ work }) => ends.includes(Number(work["writers"])) && work["files"] === files);
  const panels = chosen.map((loop) => ({ ...loop, panel: `${nameLoop(loop)}: ${nameSide(loop.side)}` }));
  const words = {
    title: "Every save, in the order in which they were made",
    subtitle: "writers × repositories × files; dashed: 50th, 90th and 99th percentile",
    across: "save",
    up: "ms",
  };
  return drawScatter(panels, words, new Set(chosen.map(({ side }) => side)).size);
}

function drawPercentiles(samples: readonly Sample[]): TopLevelSpec | null {
  const points = groupSaves(samples).flatMap(({ work, side, values }) => {
    const { phase, writers, repositories, files } = work;
    // No percentile beyond what so many samples can show.
    const shares = SHARES.filter((share) => Math.round(values.length * (1 - share)) >= 1);
    return shares.map((share): Point => {
      const y = quantile(values, share);
      // Equal steps to the right leave out equal parts of what was left.
      const x = Number((-Math.log10(1 - share)).toFixed(6));
      const curve = `${writers} × ${repositories}`;
      return { panel: `${phase}, ${files} files: ${nameSide(side)}`, curve, x, y, low: y, high: y };
    });
  });
  if (points.length === 0) return null;
  const words = {
    title: "Percentiles by writers × repositories",
    subtitle: "how long a save takes, and how long the slowest in ten, a hundred, a thousand take",
    across: "percentile",
    up: "ms",
  };
  const markText = "'p' + format(100 * (1 - pow(10, -datum.value)), '.3~r')";
  return drawCurves(points, words, { isLogY: true, markText });
}

function drawBranches(samples: readonly Sample[]): TopLevelSpec | null {
  const points = compareToNative(selectSamples(samples, { phase: "pull" }, ["ms"])).map(
    ({ work, side, summary: { median, low, high } }): Point => ({
      panel: String(work["step"]),
      curve: nameSide(side),
      x: Number(work["branches"]),
      y: median,
      low,
      high,
    }),
  );
  if (points.length === 0) return null;
  const words = {
    title: "First pull by number of branches",
    subtitle: "git clone of a repository that was pushed just before; medians; band: spread",
    across: "branches",
    up: "ms",
  };
  return drawCurves(points, words);
}
