/** How long the phases of a request take, in ms by the platform's clock, which on the deployed platform stands still but for waits. */
export class Timings {
  readonly #startMs = Date.now();
  readonly #phases = new Map<string, number>();

  /** Does something that belongs to a phase. */
  async time<T>(phase: string, work: () => Promise<T>): Promise<T> {
    const startMs = Date.now();
    try {
      return await work();
    } finally {
      this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + Date.now() - startMs);
    }
  }

  /** The phases so far, and how long it is since the request came. */
  read(): { readonly phases: Readonly<Record<string, number>>; readonly totalMs: number } {
    return { phases: Object.fromEntries(this.#phases), totalMs: Date.now() - this.#startMs };
  }

  /** The header `Server-Timing`. @see https://www.w3.org/TR/server-timing/ */
  toHeader(): string {
    const { phases, totalMs } = this.read();
    return [...Object.entries(phases), ["total", totalMs]].map(([phase, ms]) => `${phase};dur=${ms}`).join(", ");
  }
}
