/** Measures two sides in turns, so that both meet the same machine, and puts the figures into a table. */

/** What one run showed, by the names of the table's rows. */
export type Sample = Readonly<Record<string, number>>;

/** One row: a measure of a work, a value per round for each side. */
export interface Figure {
  readonly work: string;
  readonly measure: string;
  readonly native: readonly number[];
  readonly holdfast: readonly number[];
}

/** Runs native and Holdfast alternately: once unrecorded to warm up, then `rounds` times. What only one side shows is no
 * number (NaN) on the other. */
export async function takeTurns(
  work: string,
  rounds: number,
  sides: { readonly native: () => Promise<Sample>; readonly holdfast: () => Promise<Sample> },
): Promise<Figure[]> {
  const native: Sample[] = [];
  const holdfast: Sample[] = [];
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`${work}: ${round === 0 ? "warm-up" : `round ${round} of ${rounds}`}\n`);
    const samples = [await sides.native(), await sides.holdfast()] as const;
    if (round === 0) continue;
    native.push(samples[0]);
    holdfast.push(samples[1]);
  }
  return makeFigures(work, native, holdfast);
}

/** Figures of samples that were taken otherwise than in turns. */
export function makeFigures(work: string, native: readonly Sample[], holdfast: readonly Sample[]): Figure[] {
  const measures = new Set([...holdfast, ...native].flatMap((sample) => Object.keys(sample)));
  return [...measures].map((measure) => ({
    work,
    measure,
    native: native.map((sample) => sample[measure] ?? Number.NaN),
    holdfast: holdfast.map((sample) => sample[measure] ?? Number.NaN),
  }));
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

function formatNumber(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

/** Medians, and Holdfast's over native's. */
export function formatTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ work, measure, native, holdfast }) => [
    work,
    measure,
    formatNumber(median(native), 3),
    formatNumber(median(holdfast), 3),
    formatNumber(median(holdfast) / median(native), 2),
  ]);
  const table = [["work", "measure", "native", "Holdfast", "ratio"], ...rows];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  return table
    .map((row) =>
      row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))),
    )
    .map((cells) => `${cells.join("  ")}\n`)
    .join("");
}

/** The same as RFC 4180 lines, every round's value too. */
export function formatCsv(figures: readonly Figure[]): string {
  const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = figures.map(({ work, measure, native, holdfast }) =>
    [
      quote(work),
      quote(measure),
      median(native),
      median(holdfast),
      median(holdfast) / median(native),
      quote(native.join(" ")),
      quote(holdfast.join(" ")),
    ].join(","),
  );
  const head = "work,measure,native_median,holdfast_median,ratio,native_rounds,holdfast_rounds";
  return [head, ...rows, ""].join("\r\n");
}
