/** What checks print: how far they are, what is wrong, and in the end what was done and how long
 * it took. */
import { type Sample, toSamples } from "../bench/figures/sample.ts";
import { quantile } from "../bench/figures/summary.ts";

/** Somebody said something that is not so. Whatever else is thrown is an error: nothing was said,
 * or that it cannot be done. */
export class WrongAnswer extends Error {}

/** Where nobody looks on, one line of progress in so long is enough. */
const QUIET_MS = 10_000;

let lastMs = -Infinity;

/** Tells on standard error what goes on: at a terminal, the next line takes its place. "":
 * nothing more. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[K${text}`);
  } else if (text !== "" && performance.now() - lastMs > QUIET_MS) {
    lastMs = performance.now();
    process.stderr.write(`${text}\n`);
  }
}

/** Rows in columns, without a newline at the end. */
export function formatRows(rows: readonly (readonly string[])[], alignRight: readonly number[] = [1]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const align = (cell: string, column: number): string =>
    alignRight.includes(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return rows.map((row) => row.map(align).join("  ").trimEnd()).join("\n");
}

/** Enough of a value to know it by. */
const SHOWN_CHARACTERS = 120;

/** Compares what was answered with what git says.
 * @throws WrongAnswer with both, from a little before where they differ */
export function demandSame(what: string, actual: string | Buffer, expected: string | Buffer): void {
  if (typeof actual === "string" ? actual === expected : actual.equals(expected as Buffer)) return;
  let at = 0;
  while (at < actual.length && actual[at] === expected[at]) at++;
  if (typeof actual === "string") {
    const show = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + SHOWN_CHARACTERS));
    throw new WrongAnswer(`${what}: ${show(actual)} at ${at} and not ${show(expected as string)}`);
  }
  throw new WrongAnswer(
    `${what}: ${actual.length} bytes that differ at ${at} (${actual[at]} and not ${expected[at]}) from the ${expected.length} of git`,
  );
}

/** One kind of operation, on repositories of one size. */
interface Operation {
  readonly name: string;
  /** Null: of whatever size. */
  readonly files: number | null;
  /** ms, those of operations that failed too. */
  readonly times: number[];
  errors: number;
}

/** Counts a run. */
export class Tally {
  readonly #operations = new Map<string, Operation>();
  readonly #counts = new Map<string, number>();
  readonly #lines: string[] = [];
  #errors = 0;

  /** Nothing failed, and nothing was wrong. */
  get isWell(): boolean {
    return this.#lines.length === 0;
  }

  /** How many were done so far. */
  get operations(): number {
    return this.#operations.values().reduce((sum, { times }) => sum + times.length, 0);
  }

  /** Does something and times it.
   * @throws what it throws */
  async time<Result>(name: string, work: () => Promise<Result>, files: number | null = null): Promise<Result> {
    const operation = this.#operationOf(name, files);
    const startMs = performance.now();
    try {
      return await work();
    } catch (error) {
      operation.errors++;
      throw error;
    } finally {
      operation.times.push(performance.now() - startMs);
    }
  }

  /** Notes what took so many ms. */
  took(name: string, ms: number): void {
    this.#operationOf(name, null).times.push(ms);
  }

  /** Does something and times it.
   * @returns what came of it, null: nothing, and it is noted why */
  async run<Result>(name: string, files: number, work: () => Promise<Result>): Promise<Result | null> {
    try {
      return await this.time(name, work, files);
    } catch (error) {
      this.#note(`${name}, ${files} files`, error);
      return null;
    }
  }

  /** Looks at what came of something, which is no operation of its own.
   * @returns whether it is as it must be */
  async check(what: string, work: () => Promise<void> | void): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#note(what, error);
      return false;
    }
  }

  /** Notes that something is wrong. */
  wrong(line: string): void {
    this.#note(line, new WrongAnswer(""));
  }

  /** Counts what is told of in the end. */
  count(what: string, by = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + by);
  }

  #operationOf(name: string, files: number | null): Operation {
    const key = `${files} ${name}`;
    const operation = this.#operations.get(key) ?? { name, files, times: [], errors: 0 };
    this.#operations.set(key, operation);
    return operation;
  }

  #note(what: string, error: unknown): void {
    // It was ended from here.
    if (error instanceof Error && error.name === "AbortError") throw error;
    const isWrong = error instanceof WrongAnswer;
    if (!isWrong) this.#errors++;
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
    const text = `${error instanceof Error ? error.message : String(error)}${cause}`.trim().replaceAll("\n", " | ");
    const line = `${isWrong ? "wrong" : "error"}: ${what}${text === "" ? "" : `: ${text}`}`;
    this.#lines.push(line);
    showProgress("");
    console.error(line);
  }

  /** A table, a line for each error, and the sum. */
  format(): string {
    const rows = [...this.#operations.values()].map(({ files, name, times, errors }) => [
      name,
      `${files ?? ""}`,
      String(times.length),
      ...[0.5, 0.9, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
      String(errors),
    ]);
    const head = ["operation", "files", "times", "p50 ms", "p90 ms", "p99 ms", "max ms", "errors"];
    const isSized = rows.some(([, files]) => files !== "");
    const columns = [head, ...rows].map((row) => (isSized ? row : row.toSpliced(1, 1)));
    const table = rows.length === 0 ? [] : [formatRows(columns, [1, 2, 3, 4, 5, 6, 7])];
    const sums = [
      ...(rows.length === 0 ? [] : [`${this.operations} operations`]),
      ...[...this.#counts].map(([what, count]) => `${count} ${what}`),
      `${this.#errors} errors`,
      `${this.#lines.length - this.#errors} wrong`,
    ];
    return [...table, ...this.#lines, sums.join(", "), ""].join("\n");
  }

  /** Every time as a sample. */
  toSamples(): Sample[] {
    return [...this.#operations.values()].flatMap(({ files, name, times }) =>
      times.flatMap((ms, i) => toSamples({ operation: name, files: files ?? "" }, "holdfast", i + 1, { ms })),
    );
  }
}
