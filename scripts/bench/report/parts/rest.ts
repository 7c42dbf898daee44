/** rest.csv: the API's reading routes, by number of files and by number of commits. */
import type { Sample } from "../../figures/sample.ts";
import { drawBars } from "../charts/bars.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison } from "../markdown.ts";
import type { Chart, Part } from "./part.ts";

/** Of one commit, or of more. */
const byFiles = (samples: readonly Sample[]): Sample[] => samples.filter(({ work }) => work["commits"] === 1);

const byCommits = (samples: readonly Sample[]): Sample[] => samples.filter(({ work }) => work["commits"] !== 1);

export const REST: Part = {
  name: "rest",
  tables: {
    "rest-files": (samples) => tabulate(byFiles(samples)),
    "rest-commits": (samples) => tabulate(byCommits(samples)),
  },
  charts: [chart("rest-files", "files", byFiles), chart("rest-commits", "commits", byCommits)],
};

function tabulate(samples: readonly Sample[]): string {
  return samples.length === 0 ? "" : formatComparison(samples, { measures: ["ms", "first ms"] });
}

function chart(name: string, size: string, select: (samples: readonly Sample[]) => Sample[]): Chart {
  return {
    name,
    alt: `Bars: milliseconds of each reading route of the API by number of ${size}, beside the git command that tells the same`,
    draw(samples) {
      const bars = compareToNative(selectSamples(select(samples), {}, ["ms"])).map((one) => ({
        ...one,
        panel: String(one.work["route"]),
        place: String(one.work[size]),
      }));
      if (bars.length === 0) return null;
      const words = {
        title: `Reading routes of the API by number of ${size}`,
        subtitle: "native: git in a local repository, its start included; lines: spread; above: ratio",
        across: size,
        up: "ms",
      };
      return drawBars(bars, words, 5);
    },
  };
}
