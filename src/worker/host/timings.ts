/** Durations of a request's phases, in ms. On the deployed platform the clock advances only while
 * waiting. */
export class Timings {
  readonly #startMs = Date.now();
  readonly #phases = new Map<string, number>();

  /** Runs work that belongs to a phase, and adds its time. */
  async time<T>(phase: string, work: () => Promise<T>): Promise<T> {
    const startMs = Date.now();
    try {
      return await work();
    } finally {
      this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + Date.now() - startMs);
    }
  }

  /** Returns the phases so far, and the time since the request arrived. */
  read(): { readonly phases: Readonly<Record<string, number>>; readonly totalMs: number } {
    return { phases: Object.fromEntries(this.#phases), totalMs: Date.now() - this.#startMs };
  }

  /** The header `Server-Timing`. @see https://www.w3.org/TR/server-timing/ */
  toHeader(): string {
    const { phases, totalMs } = this.read();
    return [...Object.entries(phases), ["total", totalMs]].map(([phase, ms]) => `${phase};dur=${ms}`).join(", ");
  }
}
