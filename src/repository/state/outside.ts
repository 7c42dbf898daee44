/** What a repository reaches outside of its own storage. */
export interface Outside {
  /** Tells listeners that something has happened; within a transaction they hear of it only once that
   * is durable. */
  wakeListeners(): void;
  /** Refuses an address that must not be asked.
   * @throws GitError "invalid" */
  checkAddress(url: URL): void;
  /** Sends a request; within a transaction it leaves only once that is durable. */
  readonly fetch: typeof fetch;
}
