/** The output of checks: their progress, the errors, and at the end the operations with their
 * times. */
import { type Sample, toSamples } from "../bench/figures/sample.ts";
import { formatRows, quantile } from "../bench/figures/table.ts";

/** An answer that is wrong. Every other error means that there was no answer, or a refusal. */
export class WrongAnswer extends Error {}

/** How often progress is printed if standard error is not a terminal. */
const QUIET_MS = 10_000;

let lastMs = -Infinity;

/** Shows the progress on standard error; on a terminal, the next line replaces it. "": clears
 * it. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) {
    process.stderr.write(`\r\u001b[K${text}`);
  } else if (text !== "" && performance.now() - lastMs > QUIET_MS) {
    lastMs = performance.now();
    process.stderr.write(`${text}\n`);
  }
}

/** Enough characters to recognize a value. */
const SHOWN_CHARACTERS = 120;

/** Compares an answer with git's.
 * @throws WrongAnswer with both, from just before the first difference */
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
  /** Null: any size. */
  readonly files: number | null;
  /** ms, including failed operations. */
  readonly times: number[];
  errors: number;
}

/** The results of a run. */
export class Tally {
  readonly #operations = new Map<string, Operation>();
  readonly #counts = new Map<string, number>();
  readonly #lines: string[] = [];
  #errors = 0;

  /** Whether nothing failed and nothing was wrong. */
  get isWell(): boolean {
    return this.#lines.length === 0;
  }

  /** The number of operations so far. */
  get operations(): number {
    return this.#operations.values().reduce((sum, { times }) => sum + times.length, 0);
  }

  /** Runs and times an operation.
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

  /** Records an operation's time in ms. */
  took(name: string, ms: number): void {
    this.#operationOf(name, null).times.push(ms);
  }

  /** Runs and times an operation.
   * @returns its result; null if it failed, which is recorded */
  async run<Result>(name: string, files: number, work: () => Promise<Result>): Promise<Result | null> {
    try {
      return await this.time(name, work, files);
    } catch (error) {
      this.#note(`${name}, ${files} files`, error);
      return null;
    }
  }

  /** Checks a result; this is not an operation of its own.
   * @returns whether the check passed */
  async check(what: string, work: () => Promise<void> | void): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      this.#note(what, error);
      return false;
    }
  }

  /** Records an error. */
  wrong(line: string): void {
    this.#note(line, new WrongAnswer(""));
  }

  /** Counts something that is printed at the end. */
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
    // The check itself aborted it.
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
