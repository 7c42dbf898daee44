/** What a repository reaches outside of its own storage. */
export interface Outside {
  /** Tells listeners that something has happened; within a transaction they hear of it only once that
   * is durable. */
  wakeListeners(): void;
}
