/** Measured values, and their CSV files. */
import { readFileSync, writeFileSync } from "node:fs";

/** What was measured, as columns such as `work` and `files`. */
export type Work = Readonly<Record<string, string | number>>;

/** The figures of one run by measure. A measure's name ends with its unit, as in `wall s`. */
export type Measures = Readonly<Record<string, number>>;

/** One measured value, not averaged. */
export interface Sample {
  readonly work: Work;
  /** The implementation: `native`, `holdfast`, or another one. */
  readonly side: string;
  readonly measure: string;
  /** Counts from 1. */
  readonly round: number;
  readonly value: number;
}

/** Equal for works with the same columns, in any order. */
export function keyOf(work: Work): string {
  return JSON.stringify(Object.entries(work).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** One sample for each measure, except those that could not be measured (NaN). */
export function toSamples(work: Work, side: string, round: number, measures: Measures): Sample[] {
  return Object.entries(measures).flatMap(([measure, value]) =>
    // Six significant digits are more than any clock here resolves.
    Number.isNaN(value) ? [] : [{ work, side, measure, round, value: Number(value.toPrecision(6)) }],
  );
}

/** The columns between those of the work and those of the measures. */
const MIDDLE = ["side", "round"];

/** RFC 4180 with LF as line ends. Columns: those of the work, `side`, `round`, and one for each
 * measure. Each run has one line. */
export function formatSamples(samples: readonly Sample[]): string {
  const own = [...new Set(samples.flatMap(({ work }) => Object.keys(work)))];
  const measures = [...new Set(samples.map(({ measure }) => measure))];
  const runs: { sample: Sample; values: Record<string, number> }[] = [];
  const latest = new Map<string, (typeof runs)[number]>();
  for (const sample of samples) {
    const key = keyOf({ ...sample.work, side: sample.side, round: sample.round });
    let run = latest.get(key);
    if (run === undefined || sample.measure in run.values) {
      runs.push((run = { sample, values: {} }));
      latest.set(key, run);
    }
    run.values[sample.measure] = sample.value;
  }
  const rows = runs.map(({ sample: { work, side, round }, values }) => [
    ...own.map((column) => work[column] ?? ""),
    side,
    round,
    ...measures.map((measure) => values[measure] ?? ""),
  ]);
  return [[...own, ...MIDDLE, ...measures], ...rows].map((row) => `${row.map(quote).join(",")}\n`).join("");
}

function quote(cell: string | number): string {
  const text = String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Reads what `formatSamples` wrote. Values in the work's columns that look like numbers become
 * numbers.
 * @throws Error if the text is not such a file */
export function parseSamples(text: string): Sample[] {
  const [head = [], ...rows] = parseRows(text);
  const at = head.indexOf("side");
  if (at < 0 || head[at + 1] !== "round") throw new Error(`no file of samples: it begins ${head.join()}`);
  return rows.flatMap((row, index) => {
    if (row.length !== head.length) throw new Error(`line ${index + 2} has ${row.length} columns, not ${head.length}`);
    const cells = row.map((cell, column) => [head[column]!, cell] as const).filter(([, cell]) => cell !== "");
    const isOwn = ([column]: readonly [string, string]): boolean => head.indexOf(column) < at;
    const work = cells
      .filter(isOwn)
      .map(([column, cell]) => [column, /^-?\d+(\.\d+)?$/.test(cell) ? Number(cell) : cell] as const);
    const values = cells.filter(([column]) => head.indexOf(column) > at + 1);
    return values.map(([measure, value]) => ({
      work: Object.fromEntries(work),
      side: row[at]!,
      measure,
      round: Number(row[at + 1]),
      value: Number(value),
    }));
  });
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

/** Reads a file of samples.
 * @throws Error that names the file, if it is missing or malformed */
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
