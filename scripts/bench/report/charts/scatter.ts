/** A dot for each sample of a loop, in the order in which they were taken. */
import type { TopLevelSpec } from "vega-lite";
import { quantile } from "../../figures/summary.ts";
import { formatValue } from "../../figures/table.ts";
import { nameSide } from "../markdown.ts";
import { listTicks } from "./curves.ts";
import { colorScale, INK } from "./draw.ts";
import { drawPanels, type Words } from "./panels.ts";

/** A loop: its samples in their order. */
export interface Loop {
  readonly panel: string;
  readonly side: string;
  readonly values: readonly number[];
}

/** Percentiles, drawn as lines through each panel. */
const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99 };

/** A panel for each loop, all of one scale, so that they can be compared at a glance.
 * @param columns how many panels stand in one line */
export function drawScatter(loops: readonly Loop[], words: Words, columns: number): TopLevelSpec {
  // A line that is broken after each of its points, with round ends: a dot for each. As marks of their own they would take
  // fifteen times the bytes, and a loop has thousands.
  const dots = loops.flatMap(({ panel, side, values }) =>
    values.flatMap((value, index) => [
      { panel, side: nameSide(side), number: index + 1, value },
      { panel, side: nameSide(side), number: index + 1.5, value: null },
    ]),
  );
  const lines = loops.flatMap(({ panel, values }) =>
    Object.values(SHARES).map((share) => ({ panel, level: quantile(values, share), first: 1, number: values.length })),
  );
  const texts = loops.map(({ panel, values }) => {
    const levels = Object.entries(SHARES).map(([name, share]) => `${name} ${formatValue(quantile(values, share))}`);
    return { panel, told: levels.join(" · ") };
  });
  const number = {
    type: "quantitative",
    title: words.across,
    scale: { nice: false, zero: false, padding: 4 },
  } as const;
  const height = {
    type: "quantitative",
    title: words.up,
    scale: { type: "log", nice: false, padding: 8 },
    axis: { values: listTicks(loops.flatMap(({ values }) => values)) },
  } as const;
  const color = colorScale(loops.map(({ side }) => nameSide(side)));
  return drawPanels(words, {
    values: [...dots, ...lines, ...texts],
    columns,
    widthPx: columns === 1 ? 640 : Math.min(400, Math.round(960 / columns)),
    heightPx: 160,
    layers: [
      {
        transform: [{ filter: "isValid(datum.side)" }],
        mark: {
          type: "line",
          strokeCap: "round",
          strokeWidth: 2.6,
          opacity: 0.55,
          invalid: "break-paths-show-path-domains",
        },
        encoding: {
          x: { field: "number", ...number },
          y: { field: "value", ...height },
          color: { field: "side", type: "nominal", scale: color, legend: null },
        },
      },
      {
        transform: [{ filter: "isValid(datum.level)" }],
        mark: { type: "rule", strokeDash: [4, 3], color: INK, opacity: 0.8 },
        encoding: { x: { field: "first", ...number }, x2: { field: "number" }, y: { field: "level", ...height } },
      },
      {
        transform: [{ filter: "isValid(datum.told)" }],
        mark: { type: "text", align: "right", baseline: "bottom" },
        encoding: { x: { value: "width" }, y: { value: -5 }, text: { field: "told" } },
      },
    ],
    own: ["x"],
  });
}
