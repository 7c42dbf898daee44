/** Curves: how a figure goes with a size. */
import type { TopLevelSpec } from "vega-lite";
import { colorScale } from "./draw.ts";
import { drawPanels, type Words } from "./panels.ts";

/** A point of a curve. */
export interface Point {
  readonly panel: string;
  /** The curve, as the legend calls it; one that is a side has that side's color. */
  readonly curve: string;
  readonly x: number;
  readonly y: number;
  /** The spread; the point itself where there is none. */
  readonly low: number;
  readonly high: number;
}

/** How the axes run. */
export interface Axes {
  readonly isLogX?: boolean;
  /** All panels have one vertical axis then, else each its own. */
  readonly isLogY?: boolean;
  /** What a mark of the horizontal axis is called, as a Vega expression over `datum.value` (default: its number). */
  readonly markText?: string;
}

/** Curves through their points, with a band for the spread. */
export function drawCurves(points: readonly Point[], words: Words, axes: Axes = {}): TopLevelSpec {
  const curves = [...new Set(points.map(({ curve }) => curve))];
  const marks = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b);
  const { isLogX = false, isLogY = false, markText } = axes;
  const scale = isLogX ? ({ type: "log" } as const) : ({ type: "linear", zero: false } as const);
  const x = {
    field: "x",
    type: "quantitative",
    title: words.across,
    scale: { ...scale, nice: false, padding: 12 },
    axis: { values: marks, labelOverlap: true, ...(markText === undefined ? {} : { labelExpr: markText }) },
  } as const;
  // A spread may reach down to zero, which a logarithmic axis does not have.
  const values = isLogY ? points.map((point) => ({ ...point, low: Math.max(point.low, point.y / 10) })) : points;
  const ticks = isLogY ? listTicks(values.flatMap(({ low, high }) => [low, high])) : [];
  const height = {
    type: "quantitative",
    title: words.up,
    ...(isLogY ? ({ scale: { type: "log" }, axis: { values: ticks } } as const) : {}),
  } as const;
  const color = { field: "curve", type: "nominal", scale: colorScale(curves), sort: curves } as const;
  const isOne = new Set(points.map(({ panel }) => panel)).size === 1;
  return drawPanels(words, {
    values,
    columns: 3,
    widthPx: isOne ? 560 : 300,
    heightPx: 240,
    layers: [
      {
        mark: { type: "area", opacity: 0.15 },
        encoding: { x, y: { field: "low", ...height }, y2: { field: "high" }, color },
      },
      { mark: { type: "line", strokeWidth: 2 }, encoding: { x, y: { field: "y", ...height }, color } },
      {
        mark: { type: "point", filled: true, opacity: 1, size: 36 },
        encoding: { x, y: { field: "y", ...height }, color },
      },
    ],
    own: isLogY ? [] : ["y"],
  });
}

/** Ticks of a logarithmic axis: powers of ten, with their doubles and fives where there are few of them. */
export function listTicks(values: readonly number[]): number[] {
  const positive = values.filter((value) => value > 0);
  const first = Math.floor(Math.log10(Math.min(...positive)));
  const last = Math.ceil(Math.log10(Math.max(...positive)));
  const steps = last - first > 3 ? [1] : [1, 2, 5];
  const decades = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  // By text, as a product of powers is not the nearest number: 3 * 0.1 is 0.30000000000000004.
  return decades.flatMap((decade) => steps.map((step) => Number(`${step}e${decade}`)));
}
