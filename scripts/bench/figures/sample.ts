/** A measured value, and files of them. */
import { readFileSync, writeFileSync } from "node:fs";

/** What was done to what: the columns of its own that a benchmark has, such as `work` and `files`. */
export type Work = Readonly<Record<string, string | number>>;

/** The same for works with the same columns, in whatever order those come, as files have an order of their own. */
export function keyOf(work: Work): string {
  return JSON.stringify(Object.entries(work).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What one run showed: values by measure. A measure has its unit at its end, as in `wall s`. */
export type Measures = Readonly<Record<string, number>>;

/** One value, as it was measured: nothing is averaged before it is written down. */
export interface Sample {
  readonly work: Work;
  /** Who did it: `native`, `holdfast`, or another that is measured beside them. */
  readonly side: string;
  readonly measure: string;
  /** Counts from 1. */
  readonly round: number;
  readonly value: number;
}

/** A sample of each measure; what could not be measured is no number (NaN), and gives none. */
export function toSamples(work: Work, side: string, round: number, measures: Measures): Sample[] {
  return Object.entries(measures).flatMap(([measure, value]) =>
    Number.isNaN(value) ? [] : [{ work, side, measure, round, value: roundValue(value) }],
  );
}

/** The columns that every benchmark's file ends with. */
const COLUMNS = ["side", "measure", "round", "value"];

/** RFC 4180 with LF for its line ends: a line for each value, and a column for whatever describes the work of any. */
export function formatSamples(samples: readonly Sample[]): string {
  const own = [...new Set(samples.flatMap(({ work }) => Object.keys(work)))];
  const rows = samples.map(({ work, side, measure, round, value }) => [
    ...own.map((column) => work[column] ?? ""),
    side,
    measure,
    round,
    value,
  ]);
  return [[...own, ...COLUMNS], ...rows].map((row) => `${row.map(quote).join(",")}\n`).join("");
}

/** Six digits that count: more than any clock here is good for, and differences of clocks are not told by their last bits. */
function roundValue(value: number): number {
  return Number(value.toPrecision(6));
}

function quote(cell: string | number): string {
  const text = String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Reads what `formatSamples` wrote. What looks like a number in the work's own columns is one.
 * @throws Error if the text is not such a file */
export function parseSamples(text: string): Sample[] {
  const [head, ...rows] = parseRows(text);
  const own = head?.slice(0, -COLUMNS.length) ?? [];
  if (head?.slice(own.length).join() !== COLUMNS.join())
    throw new Error(`no file of samples: it begins ${head?.join()}`);
  return rows.map((row, index) => {
    const [side, measure, round, value] = row.slice(own.length);
    if (row.length !== head.length) throw new Error(`line ${index + 2} has ${row.length} columns, not ${head.length}`);
    const work = own.flatMap((column, at) => (row[at] === "" ? [] : [[column, toNumber(row[at]!)] as const]));
    return {
      work: Object.fromEntries(work),
      side: side!,
      measure: measure!,
      round: Number(round),
      value: Number(value),
    };
  });
}

function toNumber(cell: string): string | number {
  return /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** @see RFC 4180 */
function parseRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n"]*))(,|\r?\n|$)/g)) {
    if (end === "" && row.length === 0 && (quoted ?? plain) === "") break;
    row.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** Two runs as one: the later one's rounds go on where the earlier one's of the same work ended, each with all sides that it had. */
export function appendRounds(earlier: readonly Sample[], later: readonly Sample[]): Sample[] {
  const last = new Map<string, number>();
  for (const { work, round } of earlier) {
    const key = keyOf(work);
    last.set(key, Math.max(round, last.get(key) ?? 0));
  }
  return [
    ...earlier,
    ...later.map((sample) => ({ ...sample, round: sample.round + (last.get(keyOf(sample.work)) ?? 0) })),
  ];
}

/** Reads a file of samples. @throws Error that names it, if there is none or it is none */
export function readSamples(path: string): Sample[] {
  try {
    return parseSamples(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes a file of samples. */
export function writeSamples(path: string, samples: readonly Sample[]): void {
  writeFileSync(path, formatSamples(samples));
}
