/** Interval between two lines (ms). */
const EVERY_MS = 250;

const MIB = 1024 * 1024;

/** A progress bar on standard error, in the style of git's. */
export class Progress {
  readonly #isShown: boolean;
  readonly #startMs = Date.now();
  #toldMs = 0;
  #sentBytes = 0;
  #title = "";
  #done = 0;
  #total: number | null = 0;

  constructor(isShown: boolean) {
    this.#isShown = isShown;
  }

  /** Shows the progress of a phase.
   * @param total null: not known yet */
  show(title: string, done: number, total: number | null): void {
    this.#title = title;
    this.#done = Math.min(done, total ?? Infinity);
    this.#total = total;
    this.#tell(total !== null && done >= total);
  }

  /** Counts sent bytes. */
  count(bytes: number): void {
    this.#sentBytes += bytes;
    this.#tell(false);
  }

  #tell(isEnd: boolean): void {
    const nowMs = Date.now();
    if (!this.#isShown || this.#total === 0 || (!isEnd && nowMs - this.#toldMs < EVERY_MS)) return;
    this.#toldMs = nowMs;
    const total = this.#total;
    const percent = total === null ? "" : `${`${Math.floor((100 * this.#done) / total)}`.padStart(3)}% `;
    const objects = total === null ? `${this.#done}` : `(${this.#done}/${total})`;
    const seconds = Math.max(0.001, (nowMs - this.#startMs) / 1_000);
    const bytes = `${(this.#sentBytes / MIB).toFixed(2)} MiB | ${(this.#sentBytes / MIB / seconds).toFixed(2)} MiB/s`;
    const end = isEnd ? ", done.\n" : "\r";
    process.stderr.write(`${this.#title}: ${percent}${objects}, ${bytes}${end}`);
  }
}
