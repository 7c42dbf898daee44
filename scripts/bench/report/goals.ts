/** What was asked of Holdfast, as figures. */
import type { Sample } from "../figures/sample.ts";
import { quantile, type Summary, toRows } from "../figures/summary.ts";
import { formatSummary, formatValue } from "../figures/table.ts";
import { selectSamples, type Where } from "./compare.ts";
import { formatMarkdown, formatRatio } from "./markdown.ts";

/** A figure that is to be no larger than so much. */
export interface Goal {
  /** The page explains a miss at the anchor `why-<id>`. */
  readonly id: string;
  /** The issue that asks for it. */
  readonly issue: number;
  readonly what: string;
  /** The file of samples that shows it. */
  readonly part: string;
  /** Which samples of Holdfast. */
  readonly where: Where;
  readonly measure: string;
  /** Which quantile of them (default 0.5, the median; a ratio to native has no other). */
  readonly share?: number;
  /** What it is divided by: native's for the same work, Holdfast's for another, or nothing. */
  readonly over: "native" | "nothing" | Where;
  /** As it was asked. */
  readonly asked: string;
  /** The same as a number: seconds, milliseconds or a ratio. */
  readonly most: number;
}

/** How one stands; the figures are NaN where there are no samples. */
export interface Verdict {
  readonly goal: Goal;
  readonly figure: number;
  /** Of a ratio to native: the spread of its rounds. */
  readonly spread: Summary | undefined;
  /** What the ratio is of. */
  readonly own: number;
  readonly other: number;
  readonly state: "met" | "missed" | "not measured";
}

const EXPRESS = { repository: "express" };

/** Twenty builds of one push, by a client that does nothing but receive. */
function askOfStorm(storm: string, cache: string): Goal[] {
  const where = { client: "raw", clients: 20, storm, cache, repository: "esbuild" };
  const [most, least] = storm.startsWith("depths") ? [1, 1] : [1 / 5, 1 / 9];
  const [wall, cpu] = most === 1 ? ["≤ 1.0×", "≤ 1.0×"] : ["≤ 1/5", "≤ 1/9"];
  const common = { issue: 3, part: "storm", where, over: "native" } as const;
  const id = `storm-${storm.replaceAll(" ", "-")}-${cache}`;
  const what = `20 clones of esbuild at the same time, ${storm}, cache ${cache}`;
  return [
    { ...common, id: `${id}-wall`, what: `${what}: wall`, measure: "wall s", asked: wall, most },
    { ...common, id: `${id}-cpu`, what: `${what}: server CPU`, measure: "server CPU s", asked: cpu, most: least },
  ];
}

/** What a component of 2017 that saved through git took for a save, on its own machine and local disk: to be beaten by one request. */
function askOfSaves(
  phase: string,
  writers: number,
  files: number,
  asked: Readonly<Record<"p90" | "p99", number>>,
): Goal[] {
  return Object.entries(asked).map(([percentile, most]) => ({
    id: `save-${phase}-${writers}-${files}-${percentile}`,
    issue: 6,
    what: `save by the API, ${phase}, ${writers} writers × ${writers} repositories × ${files} files: ${percentile}`,
    part: "store",
    where: { phase, by: "api", writers, repositories: writers, files },
    measure: "ms",
    share: Number(percentile.slice(1)) / 100,
    over: "nothing",
    asked: `≤ ${most} ms`,
    most,
  }));
}

/** In the order of the issues. */
export const GOALS: readonly Goal[] = [
  {
    id: "index",
    issue: 2,
    what: "index a pack inside workerd, beside `git index-pack --threads=1`",
    part: "codec",
    where: { work: "index", corpus: "entries" },
    measure: "ms",
    over: "native",
    asked: "1.3 times as fast",
    most: 1 / 1.3,
  },
  {
    id: "push-wall",
    issue: 2,
    what: "push express: wall",
    part: "core",
    where: { work: "push", ...EXPRESS },
    measure: "wall s",
    over: "native",
    asked: "≤ 1.2×",
    most: 1.2,
  },
  {
    id: "push-cpu",
    issue: 2,
    what: "push express: server CPU",
    part: "core",
    where: { work: "push", ...EXPRESS },
    measure: "server CPU s",
    over: "native",
    asked: "≤ 2×",
    most: 2,
  },
  {
    id: "fetch",
    issue: 2,
    what: "the whole pack of express to a raw client: wall",
    part: "core",
    where: { work: "fetch, raw client", ...EXPRESS },
    measure: "wall s",
    over: "native",
    asked: "≤ 1.0×",
    most: 1,
  },
  ...[1000, 5000].map((files) => ({
    id: `push-noise-${files}`,
    issue: 2,
    what: `push ${files} files of 8 KB noise: wall`,
    part: "core",
    where: { work: "push", repository: `${files} files of noise` },
    measure: "wall s",
    over: "native" as const,
    asked: "≤ 1.2×",
    most: 1.2,
  })),
  ...["depth 1", "whole", "depths 1 to N"].flatMap((storm) =>
    ["cold", "warm"].flatMap((cache) => askOfStorm(storm, cache)),
  ),
  {
    id: "first-byte",
    issue: 3,
    what: "first byte of a full clone of esbuild",
    part: "core",
    where: { work: "fetch, raw client", repository: "esbuild" },
    measure: "first byte s",
    over: "nothing",
    asked: "≤ 50 ms",
    most: 0.05,
  },
  {
    id: "pushes",
    issue: 3,
    what: "a small push: the last 200 of 10,000 beside the first 200",
    part: "fetch",
    where: { work: "the last 200 pushes", pushes: 10_000 },
    measure: "ms",
    over: { work: "the first 200 pushes", pushes: 10_000 },
    asked: "≤ 1.2×",
    most: 1.2,
  },
  {
    id: "pushes-clone",
    issue: 3,
    what: "a clone after 10,000 small pushes and maintenance, beside one before",
    part: "fetch",
    where: { work: "clone after maintenance", pushes: 10_000 },
    measure: "wall s",
    over: { work: "clone before", pushes: 10_000 },
    asked: "≤ 1.2×",
    most: 1.2,
  },
  ...askOfSaves("add", 1, 2000, { p90: 79, p99: 107 }),
  ...askOfSaves("modify", 1, 2000, { p90: 66, p99: 74 }),
  ...askOfSaves("modify", 20, 2000, { p90: 72, p99: 87 }),
  ...askOfSaves("modify", 20, 100, { p90: 65, p99: 70 }),
];

/** Holds a goal against what was measured. */
export function judgeGoal(goal: Goal, samples: readonly Sample[]): Verdict {
  const { where, measure, share = 0.5, over, most } = goal;
  const read = (side: string, chosen: Where): number => {
    const bySide = samples.filter((sample) => sample.side === side);
    return quantile(
      selectSamples(bySide, chosen, [measure]).map(({ value }) => value),
      share,
    );
  };
  const own = read("holdfast", where);
  let other = Number.NaN;
  let figure = own;
  let spread: Summary | undefined;
  if (over === "native") {
    other = read("native", where);
    // Round by round, as everywhere.
    const [row] = toRows(selectSamples(samples, where, [measure]));
    spread = row?.ratios.get("holdfast");
    figure = spread?.median ?? Number.NaN;
  } else if (over !== "nothing") {
    other = read("holdfast", over);
    figure = own / other;
  }
  const verdict = { goal, figure, spread, own, other };
  if (Number.isNaN(figure)) return { ...verdict, state: "not measured" };
  return { ...verdict, state: figure <= most ? "met" : "missed" };
}

/** A row for each goal. @param explained the anchors of the page */
export function formatGoals(verdicts: readonly Verdict[], explained: ReadonlySet<string>): string {
  const rows = verdicts.map((verdict) => {
    const { goal, state } = verdict;
    const anchor = nameReason(goal);
    const reason = explained.has(anchor) ? `, [why](#${anchor})` : "";
    return [
      goal.what,
      String(goal.issue),
      goal.asked,
      formatFigure(verdict),
      state === "missed" ? `**missed**${reason}` : state,
    ];
  });
  return formatMarkdown([["goal", "issue", "asked", "measured", ""], ...rows], [3]);
}

/** The anchor at which the page says why a goal is missed. */
export function nameReason({ id }: Goal): string {
  return `why-${id}`;
}

function formatFigure({ goal, figure, spread, own, other, state }: Verdict): string {
  if (state === "not measured") return "–";
  const unit = goal.measure.split(" ").at(-1)!;
  if (goal.over === "nothing") return `${formatValue(own)} ${unit}`;
  const values = `${formatValue(own)} to ${formatValue(other)} ${unit}`;
  return spread === undefined ? `${formatRatio(figure)}, ${values}` : `${formatSummary(spread)}×, ${values}`;
}
