/** A call tree as a picture: one SVG without a script. */
import { type Frame, type Layer, sumLayers } from "./call-tree.ts";

/** What the picture says of itself. */
export interface Caption {
  readonly title: string;
  /** Lines below it. */
  readonly lines: readonly string[];
}

const WIDTH = 1600;
const MARGIN = 10;
const ROW = 17;
const FONT = 12;
/** Of the fixed-width font at its size. */
const CHARACTER = 7.3;
const LINE = 18;

/** Narrower frames are left out. */
const LEAST_WIDTH = 0.4;

/** Frames show a text when so many characters fit. */
const LEAST_TEXT = 3;

const COLOURS: Readonly<Record<Layer, string>> = {
  format: "#9ecae1",
  codec: "#6baed6",
  access: "#c7b3e5",
  store: "#74c476",
  repository: "#fdae6b",
  protocol: "#f2a5b8",
  rest: "#fdd049",
  web: "#d9c58b",
  host: "#e98a6d",
  wasm: "#4fa3a5",
  node_modules: "#c9c9c9",
  bundler: "#a89f91",
  workerd: "#dfe3e8",
  "(garbage collector)": "#b0413e",
  "(program)": "#eceff1",
};

/** Draws a tree from its root downwards, each frame as wide as its total. The same tree gives the same picture. */
export function drawFlameGraph(root: Frame, { title, lines }: Caption): string {
  const scale = (WIDTH - 2 * MARGIN) / root.totalMs;
  const frames: string[] = [];
  const captionHeight = MARGIN + LINE * (lines.length + 3);
  let depth = 0;
  const draw = (frame: Frame, left: number, row: number): void => {
    const width = frame.totalMs * scale;
    if (!(width >= LEAST_WIDTH)) return;
    depth = Math.max(depth, row + 1);
    frames.push(drawFrame(frame, root, { left, top: captionHeight + row * ROW, width }));
    let childLeft = left;
    for (const child of frame.children) {
      draw(child, childLeft, row + 1);
      childLeft += child.totalMs * scale;
    }
  };
  draw(root, MARGIN, 0);
  const height = captionHeight + depth * ROW + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT}">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="${MARGIN}" y="${MARGIN + 12}" font-size="15" font-weight="bold">${escapeXml(title)}</text>`,
    ...lines.map(
      (line, i) =>
        `<text x="${MARGIN}" y="${MARGIN + 12 + LINE * (i + 1)}" xml:space="preserve">${escapeXml(line)}</text>`,
    ),
    ...drawLegend(root, MARGIN + 12 + LINE * (lines.length + 1)),
    ...frames,
    "</svg>\n",
  ].join("\n");
}

function drawFrame(frame: Frame, root: Frame, box: { left: number; top: number; width: number }): string {
  const { name, place, selfMs, totalMs, layer } = frame;
  const share = ((100 * totalMs) / root.totalMs).toFixed(1);
  const hover = `${name}${place === "" ? "" : ` · ${place}`} · ${totalMs.toFixed(1)} ms, ${share} % · itself ${selfMs.toFixed(1)} ms`;
  const fitting = Math.floor((box.width - 4) / CHARACTER);
  const label = name.length <= fitting ? name : `${name.slice(0, fitting - 1)}…`;
  const [x, y, width] = [box.left.toFixed(1), box.top, Math.max(LEAST_WIDTH, box.width - 0.5).toFixed(1)];
  const text =
    fitting < LEAST_TEXT ? "" : `<text x="${(box.left + 2).toFixed(1)}" y="${y + 12.5}">${escapeXml(label)}</text>`;
  const colour = COLOURS[frame === root ? "(program)" : layer];
  return `<g><title>${escapeXml(hover)}</title><rect x="${x}" y="${y}" width="${width}" height="${ROW - 1}" rx="1" fill="${colour}"/>${text}</g>`;
}

/** What colour is what, and each one's share by itself. */
function drawLegend(root: Frame, y: number): string[] {
  let x = MARGIN;
  return [...sumLayers(root)].flatMap(([layer, selfMs]) => {
    const text = `${layer} ${((100 * selfMs) / root.totalMs).toFixed(0)} %`;
    const drawn = [
      `<rect x="${x.toFixed(1)}" y="${y - 10}" width="12" height="12" fill="${COLOURS[layer]}"/>`,
      `<text x="${(x + 16).toFixed(1)}" y="${y}">${escapeXml(text)}</text>`,
    ];
    x += 16 + (text.length + 2) * CHARACTER;
    return drawn;
  });
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Names of functions may hold any character, but XML may not hold those that control something. */
function escapeXml(text: string): string {
  return text.replace(/\p{Cc}/gu, "?").replace(/[&<>"]/g, (one) => ENTITIES[one]!);
}
