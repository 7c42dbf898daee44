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
  /** Sends a question to the deployment's policy; null: there is none. */
  readonly askPolicy: ((question: string) => Promise<Response>) | null;
}
