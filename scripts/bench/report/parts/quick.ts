/** quick.csv: push, clone and the API by number of files. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample, Work } from "../../figures/sample.ts";
import { findAuthorsMs } from "../../work/authors.ts";
import { drawBars } from "../charts/bars.ts";
import { drawCurves, type Point } from "../charts/curves.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison, nameSide } from "../markdown.ts";
import { HOW_TO_READ, type Part } from "./part.ts";

const beside = {
  "authors ms": ({ work = "", files = 0 }: Work): string => String(findAuthorsMs(String(work), Number(files)) ?? "–"),
};

/** Bytes of one file, of base64. */
const FILE_BYTES = 8192;

const MEASURES = ["wall ms", "server CPU ms"];

/** What is done with git; the rest are routes of the API. */
const OF_GIT = ["push", "clone", "incremental push", "fetch"];

const isOfGit = ({ work }: Sample): boolean => OF_GIT.includes(String(work["work"]));

const isOfApi = (sample: Sample): boolean => !isOfGit(sample);

export const QUICK: Part = {
  name: "quick",
  tables: {
    "quick-git": (samples) => tabulate(samples.filter(isOfGit)),
    "quick-api": (samples) => tabulate(samples.filter(isOfApi)),
  },
  charts: [
    {
      name: "quick-wall",
      alt: "Bars: wall milliseconds of push, clone, incremental push and fetch for 100, 1,000 and 5,000 files, native git beside Holdfast",
      draw: (samples) => drawByFiles(samples.filter(isOfGit), "wall ms", "Wall time by number of files of 8 KB"),
    },
    {
      name: "quick-cpu",
      alt: "Bars: server CPU milliseconds of push, clone, incremental push and fetch for 100, 1,000 and 5,000 files, native git beside Holdfast",
      draw: (samples) => drawByFiles(samples.filter(isOfGit), "server CPU ms", "Server CPU by number of files of 8 KB"),
    },
    {
      name: "quick-throughput",
      alt: "Curves: megabytes of files a second that push and clone carry, by number of files, native git beside Holdfast",
      draw: drawThroughput,
    },
    {
      name: "quick-api",
      alt: "Bars: milliseconds of each API route for 100, 1,000 and 5,000 files",
      draw: (samples) => drawByFiles(samples.filter(isOfApi), "wall ms", "API routes by number of files of 8 KB"),
    },
  ],
};

function tabulate(samples: readonly Sample[]): string {
  const measures = MEASURES.filter((measure) => samples.some((sample) => sample.measure === measure));
  return measures.length === 0 ? "" : formatComparison(samples, { measures, beside });
}

function drawByFiles(samples: readonly Sample[], measure: string, title: string): TopLevelSpec | null {
  const bars = compareToNative(selectSamples(samples, {}, [measure])).map((one) => ({
    ...one,
    panel: String(one.work["work"]),
    place: String(one.work["files"]),
  }));
  if (bars.length === 0) return null;
  return drawBars(bars, { title, subtitle: HOW_TO_READ, across: "files", up: measure });
}

function drawThroughput(samples: readonly Sample[]): TopLevelSpec | null {
  const carried = selectSamples(samples, { work: ["push", "clone"] }, ["wall ms"]).map((sample) => {
    const sizeMb = (Number(sample.work["files"]) * FILE_BYTES) / 1e6;
    return { ...sample, measure: "MB/s", value: (1000 * sizeMb) / sample.value };
  });
  const points = compareToNative(carried).map(({ work, side, summary: { median, low, high } }): Point => {
    return { panel: String(work["work"]), curve: nameSide(side), x: Number(work["files"]), y: median, low, high };
  });
  if (points.length === 0) return null;
  const subtitle = "bytes of the files by wall time, git's own client included; band: spread";
  const words = { title: "Throughput by number of files of 8 KB", subtitle, across: "files", up: "MB/s" };
  return drawCurves(points, words, { isLogX: true });
}
