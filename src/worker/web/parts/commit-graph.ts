// The graph of branches and merges beside a log. Each line of history has a lane from its first
// commit in the log down to the place where it joins another lane.

/** A commit in a graph. */
export interface GraphCommit {
  readonly oid: string;
  readonly parents: readonly string[];
}

/** A row of a graph. Lanes count from 0, from the left. */
interface GraphRow {
  /** Lane of the commit. */
  readonly lane: number;
  /** Whether a line leads to the commit from above. */
  readonly isLed: boolean;
  /** Lanes that pass by the commit. */
  readonly passing: readonly number[];
  /** Lanes of the commit's parents, below. */
  readonly down: readonly number[];
}

/** Maximum number of lanes drawn. Further ones share the last. */
export const MAX_LANES = 12;

/** Arranges the commits of a log, in its order.
 * @param lines ids to which lines lead from above
 * @returns a row for each commit, and the lanes that leave the last row at its bottom */
export function arrangeGraph(
  commits: readonly GraphCommit[],
  lines: readonly string[],
): { rows: GraphRow[]; width: number } {
  /** The commit that each lane leads to; null: the lane is free. */
  const lanes: (string | null)[] = [...lines];
  const rows = commits.map((commit) => nextRow(lanes, commit));
  const used = rows.flatMap(({ lane, passing, down }) => [lane, ...passing, ...down]);
  const widest = used.reduce((most, lane) => Math.max(most, lane), 0) + 1;
  return { rows, width: Math.min(widest, MAX_LANES) };
}

/** @param lanes changed to the lanes below the commit */
function nextRow(lanes: (string | null)[], { oid, parents }: GraphCommit): GraphRow {
  const met = lanes.indexOf(oid);
  const lane = met >= 0 ? met : freeLane(lanes);
  lanes[lane] = null;
  const passing = [...lanes.keys()].filter((at) => lanes[at] !== null);
  const down = parents.map((parent, i) => {
    const known = lanes.indexOf(parent);
    if (known >= 0) return known;
    // The first parent continues in the commit's own lane.
    const at = i === 0 ? lane : freeLane(lanes);
    lanes[at] = parent;
    return at;
  });
  while (lanes.at(-1) === null) lanes.pop();
  return { lane, isLed: met >= 0, passing, down: [...new Set(down)] };
}

function freeLane(lanes: readonly (string | null)[]): number {
  const free = lanes.indexOf(null);
  return free < 0 ? lanes.length : free;
}

/** Distance of two lanes, in pixels. */
const LANE_PX = 14;

/** Number of colours, which the style sheet names `lane-0` and so on. */
const COLORS = 6;

/** Draws a row as SVG that fills its cell: its height is 2 units, whatever the cell's, and strokes
 * do not scale.
 * @param width of the graph in lanes */
export function drawRow({ lane, isLed, passing, down }: GraphRow, width: number): string {
  const paths = passing.map((at) => stroke(at, `M${x(at)} 0V2`));
  for (const to of down) {
    const path = to === lane ? `M${x(lane)} 1V2` : `M${x(lane)} 1C${x(lane)} 2 ${x(to)} 1 ${x(to)} 2`;
    paths.push(stroke(to === lane ? lane : to, path));
  }
  if (isLed) paths.push(stroke(lane, `M${x(lane)} 0V1`));
  paths.push(`<path class="dot lane-${shown(lane) % COLORS}" d="M${x(lane)} 1h0"/>`);
  return drawn(paths, width);
}

/** Draws the lanes between two rows, which enter the second row. It also makes the column as wide
 * as the graph. */
export function drawGap({ lane, isLed, passing }: GraphRow, width: number): string {
  const lanes = isLed ? [...passing, lane] : passing;
  const paths = lanes.map((at) => stroke(at, `M${x(at)} 0V2`));
  return `<svg width="${width * LANE_PX}" height="1" aria-hidden="true"></svg>${drawn(paths, width)}`;
}

function drawn(paths: readonly string[], width: number): string {
  const size = width * LANE_PX;
  return `<svg class="rows" viewBox="0 0 ${size} 2" width="${size}" preserveAspectRatio="none" aria-hidden="true">${paths.join("")}</svg>`;
}

function stroke(lane: number, path: string): string {
  return `<path class="lane-${shown(lane) % COLORS}" d="${path}"/>`;
}

function x(lane: number): number {
  return shown(lane) * LANE_PX + LANE_PX / 2;
}

function shown(lane: number): number {
  return Math.min(lane, MAX_LANES - 1);
}
