/** What was done under stress, how long it took, and what went wrong. */
import { quantile } from "../bench/figures/summary.ts";
import { type Sample, toSamples } from "../bench/figures/sample.ts";
import { formatRows } from "../verify/report.ts";

/** The server said something that is not so. Whatever else is thrown is an error: nothing was said, or that it cannot be done. */
export class WrongAnswer extends Error {}

/** One kind of operation on repositories of one size. */
interface Operation {
  readonly files: number;
  readonly name: string;
  /** ms, those of operations that failed too. */
  readonly times: number[];
  errors: number;
}

/** Counts a run. */
export class Tally {
  readonly #operations = new Map<string, Operation>();
  readonly #lines: string[] = [];
  #errors = 0;
  #wrong = 0;
  /** Clones and fetches whose every object was checked. */
  clones = 0;

  /** Nothing failed, and nothing was wrong. */
  get isWell(): boolean {
    return this.#lines.length === 0;
  }

  /** Does something and times it.
   * @returns what came of it, null: nothing, and it is noted why */
  async run<Result>(name: string, files: number, work: () => Promise<Result>): Promise<Result | null> {
    const operation = this.#operationOf(name, files);
    const startMs = performance.now();
    try {
      return await work();
    } catch (error) {
      operation.errors++;
      this.#note(`${name}, ${files} files`, error);
      return null;
    } finally {
      operation.times.push(performance.now() - startMs);
    }
  }

  /** Looks at what came of something, which is no operation of its own.
   * @returns whether it is as it must be */
  async check(what: string, work: () => Promise<void>): Promise<boolean> {
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

  #note(what: string, error: unknown): void {
    // It was ended from here.
    if (error instanceof Error && error.name === "AbortError") throw error;
    const isWrong = error instanceof WrongAnswer;
    if (isWrong) this.#wrong++;
    else this.#errors++;
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
    const text = `${error instanceof Error ? error.message : String(error)}${cause}`.trim().replaceAll("\n", " | ");
    const line = `${isWrong ? "wrong" : "error"}: ${what}${text === "" ? "" : `: ${text}`}`;
    this.#lines.push(line);
    console.error(line);
  }

  #operationOf(name: string, files: number): Operation {
    const key = `${files} ${name}`;
    let operation = this.#operations.get(key);
    if (operation === undefined) this.#operations.set(key, (operation = { files, name, times: [], errors: 0 }));
    return operation;
  }

  /** A table, a line for each error, and the sum. */
  format(): string {
    const rows = [...this.#operations.values()].map(({ files, name, times, errors }) => [
      name,
      String(files),
      String(times.length),
      ...[0.5, 0.9, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
      String(errors),
    ]);
    const head = ["operation", "files", "times", "p50 ms", "p90 ms", "p99 ms", "max ms", "errors"];
    const table = formatRows([head, ...rows], [1, 2, 3, 4, 5, 6, 7]);
    const count = this.#operations.values().reduce((sum, { times }) => sum + times.length, 0);
    const sum = `${count} operations, ${this.clones} clones verified, ${this.#errors} errors, ${this.#wrong} wrong`;
    return [table, ...this.#lines, sum, ""].join("\n");
  }

  /** Every time as a sample. */
  toSamples(): Sample[] {
    return [...this.#operations.values()].flatMap(({ files, name, times }) =>
      times.flatMap((ms, i) => toSamples({ operation: name, files }, "holdfast", i + 1, { ms })),
    );
  }
}
