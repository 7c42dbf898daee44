/** Bars: a few figures beside each other, with their spread, and how they compare with native's. */
import type { TopLevelSpec } from "vega-lite";
import type { Summary } from "../../figures/summary.ts";
import { formatRatio, nameSide } from "../markdown.ts";
import { colorScale, INK } from "./draw.ts";
import { drawPanels, type Words } from "./panels.ts";

/** One bar. Bars come in the order in which they are given. */
export interface Bar {
  readonly panel: string;
  /** Its place on the axis. Several sides may share it. */
  readonly place: string;
  readonly side: string;
  readonly summary: Summary;
  /** Its ratio to native, which is written above it; NaN if there is none to tell. */
  readonly ratio: number;
}

/** About what a character of a label takes. */
const CHARACTER_PX = 6.2;

/** Bars whose height is the median, with a line for the spread. Panels have axes of their own.
 * @param columns most panels in one line */
export function drawBars(bars: readonly Bar[], words: Words, columns = 4): TopLevelSpec {
  const values = bars.map(({ panel, place, side, summary, ratio }) => ({
    panel,
    place,
    side: nameSide(side),
    median: summary.median,
    low: summary.low,
    high: summary.high,
    ratio: side === "native" || !Number.isFinite(ratio) ? "" : formatRatio(ratio),
  }));
  const sides = [...new Set(values.map(({ side }) => side))];
  const places = [...new Set(values.map(({ place }) => place))];
  const isShared = new Set(values.map(({ panel, place }) => JSON.stringify([panel, place]))).size < values.length;
  const x = {
    field: "place",
    type: "nominal",
    sort: null,
    title: words.across === "" ? null : words.across,
    axis: { labelLimit: 400, ticks: false },
  } as const;
  const at = isShared ? { x, xOffset: { field: "side", sort: sides } as const } : { x };
  const height = { type: "quantitative", title: words.up } as const;
  const barPx = isShared ? 24 : 40;
  const barsPx = (isShared ? sides.length : 1) * barPx * 1.4;
  const labelPx = Math.max(...places.map((place) => place.length)) * CHARACTER_PX + 12;
  return drawPanels(words, {
    values,
    columns,
    widthPx: Math.max(150, Math.round(places.length * Math.max(barsPx, labelPx))),
    heightPx: 220,
    layers: [
      {
        mark: { type: "bar", width: barPx },
        encoding: {
          ...at,
          y: { field: "median", ...height },
          color: { field: "side", type: "nominal", scale: colorScale(sides), sort: sides },
        },
      },
      {
        mark: { type: "rule", color: INK, opacity: 0.55 },
        encoding: { ...at, y: { field: "low", ...height }, y2: { field: "high" } },
      },
      {
        mark: { type: "text", baseline: "bottom", dy: -4 },
        encoding: { ...at, y: { field: "high", ...height }, text: { field: "ratio" } },
      },
    ],
    own: ["x", "y", "xOffset"],
  });
}
