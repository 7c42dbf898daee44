/** Panels: small pictures of one kind, in lines, below one title. */
import type { TopLevelSpec } from "vega-lite";
import { INK } from "./draw.ts";

/** What a picture says besides its values. */
export interface Words {
  readonly title: string;
  readonly subtitle: string;
  /** Title of the horizontal axis; empty where its places speak for themselves. */
  readonly across: string;
  /** Title of the vertical axis, with its unit. */
  readonly up: string;
}

/** What is drawn over one another in a panel. */
export type Layer = Extract<TopLevelSpec, { layer: unknown }>["layer"][number];

/** What panels are made of. */
export interface Panels {
  /** Each with the field `panel`. Panels come in the order in which they are named first. */
  readonly values: readonly { readonly panel: string }[];
  /** Most panels in one line. */
  readonly columns: number;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly layers: readonly Layer[];
  /** Axes that each panel has for itself. */
  readonly own: readonly ("x" | "y" | "xOffset")[];
}

/** A panel for each name. */
export function drawPanels(words: Words, panels: Panels): TopLevelSpec {
  const names = [...new Set(panels.values.map(({ panel }) => panel))];
  return {
    data: { values: [...panels.values] },
    title: { text: words.title, subtitle: words.subtitle },
    // Names of panels are texts of the panels: headers stand at the height of what their panels hold, each at another.
    facet: { field: "panel", type: "nominal", sort: names, header: { title: null, labelExpr: "''" } },
    columns: Math.min(panels.columns, names.length),
    bounds: "flush",
    spacing: { row: 92, column: 66 },
    spec: { width: panels.widthPx, height: panels.heightPx, layer: [...panels.layers, PANEL_NAME] },
    resolve: { scale: Object.fromEntries(panels.own.map((axis) => [axis, "independent"])) },
  };
}

const PANEL_NAME: Layer = {
  transform: [{ aggregate: [{ op: "count", as: "count" }], groupby: ["panel"] }],
  mark: { type: "text", align: "left", baseline: "bottom", fontSize: 12, fontWeight: "bold", color: INK },
  encoding: { x: { value: 0 }, y: { value: -22 }, text: { field: "panel" } },
};
