/** Work that holds something up while it runs: `create` may create the repository, if it does not
 * exist (a push or a fork); `pin` has pinned in another repository what no row of this one names
 * yet (a fork or an import); `hurry` waits for jobs, so these run at once. */
type Hold = "create" | "pin" | "hurry";

/** Counts the running work of each kind. */
export class Holds {
  readonly #counts: Record<Hold, number> = { create: 0, pin: 0, hurry: 0 };

  /** Counts one more.
   * @returns what ends it; a second call does nothing */
  begin(kind: Hold): () => void {
    this.#counts[kind] += 1;
    let isRunning = true;
    return () => {
      if (isRunning) this.#counts[kind] -= 1;
      isRunning = false;
    };
  }

  /** Whether any is running. */
  has(kind: Hold): boolean {
    return this.#counts[kind] > 0;
  }
}
