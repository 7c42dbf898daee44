/** What the verifications print. */

/** A row of the table that is printed at the end. */
export type Row = readonly [what: string, figure: string, verdict: "" | "ok" | "FAILED"];

/** Prints what goes on, if somebody looks on; the next line takes its place. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

/** Compares what two things came to, and prints both if they differ. */
export function compared(what: string, actual: string, expected: string, figure = ""): Row {
  if (actual === expected) return [what, figure, "ok"];
  console.error(`${what}: expected\n${expected}\nand found\n${actual}`);
  return [what, figure, "FAILED"];
}

/** Rows in columns, without a newline at the end. */
export function formatRows(rows: readonly (readonly string[])[], alignRight: readonly number[] = [1]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const align = (cell: string, column: number): string =>
    alignRight.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}
