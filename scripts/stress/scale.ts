/** How much of everything. */

/** What is done, and to what. */
export interface Scale {
  /** Files of the repositories that go through every phase. */
  readonly sizes: readonly number[];
  /** Files of those that are only pushed, cloned and fetched. */
  readonly transferredSizes: readonly number[];
  /** Clients that push at once. */
  readonly clients: number;
  /** Rounds of each race. */
  readonly rounds: number;
  /** Requests of the API by each client. */
  readonly requests: number;
}

/** The scales by name. */
export const SCALES = {
  quick: { sizes: [100, 1000], transferredSizes: [5000], clients: 4, rounds: 1, requests: 15 },
  full: { sizes: [100, 1000, 5000, 10_000], transferredSizes: [], clients: 8, rounds: 2, requests: 25 },
} as const satisfies Record<string, Scale>;
