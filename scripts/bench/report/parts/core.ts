/** core.csv: real histories pushed and fetched. */
import type { TopLevelSpec } from "vega-lite";
import type { Sample } from "../../figures/sample.ts";
import { median } from "../../figures/summary.ts";
import { drawBars } from "../charts/bars.ts";
import { drawCurves, type Point } from "../charts/curves.ts";
import { compareToNative, selectSamples } from "../compare.ts";
import { formatComparison, nameSide } from "../markdown.ts";
import { HOW_TO_READ, type Chart, type Part } from "./part.ts";

export const CORE: Part = {
  name: "core",
  tables: {
    core: (samples) => formatComparison(samples, { measures: ["wall s", "server CPU s", "first byte s"] }),
  },
  charts: [
    chart("core-wall", "wall s", "Wall time on whole histories"),
    chart("core-cpu", "server CPU s", "Server CPU on whole histories"),
    {
      name: "core-throughput",
      alt: "Curves: megabytes of pack a second that push and clone carry, by size of the pack, native git beside Holdfast",
      draw: drawThroughput,
    },
  ],
};

function chart(name: string, measure: string, title: string): Chart {
  return {
    name,
    alt: `Bars: ${measure} of push, clone and fetch of each history, native git beside Holdfast`,
    draw(samples) {
      const bars = compareToNative(selectSamples(samples, {}, [measure])).map((one) => ({
        ...one,
        panel: String(one.work["repository"]),
        place: String(one.work["work"]),
      }));
      if (bars.length === 0) return null;
      return drawBars(bars, { title, subtitle: HOW_TO_READ, across: "", up: measure }, 2);
    },
  };
}

/** Bytes that one file of noise takes in a pack: base64 deflates to what it stands for. */
const NOISE_BYTES = 6144;

/** What a whole pack of each repository weighs, MB: as it was fetched, or by its files of noise. */
function weighPacks(samples: readonly Sample[]): Map<string, number> {
  const bodies = Map.groupBy(selectSamples(samples, {}, ["body MB"]), ({ work }) => String(work["repository"]));
  const sizes = new Map([...bodies].map(([name, group]) => [name, median(group.map(({ value }) => value))]));
  for (const { work } of samples) {
    const repository = String(work["repository"]);
    const [, files] = /^(\d+) files of noise$/.exec(repository) ?? [];
    if (files !== undefined) sizes.set(repository, (Number(files) * NOISE_BYTES) / 1e6);
  }
  return sizes;
}

function drawThroughput(samples: readonly Sample[]): TopLevelSpec | null {
  const sizes = weighPacks(samples);
  const carried = selectSamples(samples, {}, ["wall s"]).flatMap(({ work, value, ...rest }): Sample[] => {
    const sizeMb = sizes.get(String(work["repository"]));
    const panel = String(work["work"]).split(" ")[0]!;
    if (sizeMb === undefined || !["push", "clone"].includes(panel)) return [];
    return [
      { ...rest, work: { panel, packMb: Number(sizeMb.toPrecision(3)) }, measure: "MB/s", value: sizeMb / value },
    ];
  });
  const points = compareToNative(carried).map(({ work, side, summary }): Point => {
    const { median: y, low, high } = summary;
    return { panel: String(work["panel"]), curve: nameSide(side), x: Number(work["packMb"]), y, low, high };
  });
  if (points.length === 0) return null;
  const words = {
    title: "Throughput by size of the pack",
    subtitle: "bytes of the pack by wall time, git's own client included; band: spread",
    across: "pack, MB",
    up: "MB/s",
  };
  return drawCurves(points, words, { isLogX: true });
}
