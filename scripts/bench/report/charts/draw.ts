/** Makes pictures of specifications: SVG without a browser, the same bytes every time. */
import { parse, resetSVGDefIds, View, Warn } from "vega";
import { compile, type Config, type TopLevelSpec } from "vega-lite";

/** Colors of the sides, legible on white; a side that is none of these gets one of `FURTHER`. */
const SIDES: Readonly<Record<string, string>> = { native: "#8c959f", Holdfast: "#0969da", "Holdfast API": "#8250df" };

const FURTHER = ["#bf8700", "#1a7f37", "#cf222e", "#bc4c00", "#1b7c83"];

/** Of text and lines. */
export const INK = "#1f2328";

/** Quiet, on white of its own, so that it can be read on a page of any color. */
const CONFIG: Config = {
  background: "#ffffff",
  padding: 14,
  font: "Helvetica, Arial, sans-serif",
  aria: false,
  view: { stroke: null },
  title: { anchor: "start", fontSize: 15, fontWeight: "bold", color: INK, offset: 22, subtitleColor: "#59636e" },
  axis: {
    gridColor: "#eaeef2",
    domainColor: "#d1d9e0",
    tickColor: "#d1d9e0",
    labelColor: "#59636e",
    titleColor: INK,
    titleFontWeight: "normal",
    labelFontSize: 11,
    titleFontSize: 12,
  },
  axisX: { grid: false, labelAngle: 0 },
  legend: {
    orient: "top",
    offset: 10,
    title: null,
    labelColor: INK,
    labelFontSize: 12,
    labelLimit: 400,
    symbolType: "square",
    symbolOpacity: 1,
    symbolStrokeWidth: 0,
  },
  text: { color: INK, fontSize: 11 },
};

/** A color for each name, native and Holdfast always the same. */
export function colorScale(names: Iterable<string>): { domain: string[]; range: string[] } {
  const domain = [...new Set(names)];
  const others = domain.filter((name) => SIDES[name] === undefined);
  return { domain, range: domain.map((name) => SIDES[name] ?? FURTHER[others.indexOf(name) % FURTHER.length]!) };
}

/** Draws a specification.
 * @returns SVG, with a newline at its end
 * @throws Error if the specification is none that can be drawn, or would be drawn otherwise than it says */
export async function drawChart(spec: TopLevelSpec): Promise<string> {
  const complaints: string[] = [];
  const logger = {
    level: () => logger,
    error: (...parts: unknown[]) => (complaints.push(parts.join(" ")), logger),
    warn: (...parts: unknown[]) => (complaints.push(parts.join(" ")), logger),
    info: () => logger,
    debug: () => logger,
  };
  const compiled = compile(spec, { config: CONFIG, logger: logger as never });
  // Ids of clip paths go on from one picture to the next unless told otherwise.
  resetSVGDefIds();
  const view = new View(parse(compiled.spec), { renderer: "none", logLevel: Warn, logger: logger as never });
  const svg = await view.toSVG();
  view.finalize();
  if (complaints.length > 0) throw new Error(`a chart cannot be drawn: ${complaints.join("; ")}`);
  return `${svg}\n`;
}
