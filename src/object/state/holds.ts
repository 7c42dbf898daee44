/** Kinds of work that delay other work while they run. `create` may create the repository, if it
 * does not exist (a push or a fork). `pin` has pinned R2 objects in another repository that no row
 * of this one names yet (a fork or an import). `hurry` waits for jobs, which therefore run at
 * once. */
type Hold = "create" | "pin" | "hurry";

/** Counts the running work of each kind. */
export class Holds {
  readonly #counts: Record<Hold, number> = { create: 0, pin: 0, hurry: 0 };

  /** Counts the beginning of work.
   * @returns a function that ends it; a second call does nothing */
  begin(kind: Hold): () => void {
    this.#counts[kind] += 1;
    let isRunning = true;
    return () => {
      if (isRunning) this.#counts[kind] -= 1;
      isRunning = false;
    };
  }

  /** Whether any work of a kind is running. */
  has(kind: Hold): boolean {
    return this.#counts[kind] > 0;
  }
}
