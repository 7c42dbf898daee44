/** The measures that the platform bills. Objects are Durable Objects. */

/** The billed measures. */
const BILLED = [
  /** From outside, including refused ones. */
  "Worker requests",
  /** Calls of a repository's object and requests to it. Each call through a stub is billed as a
   * request. */
  "repository requests",
  "registry requests",
  /** Alarms that fired: billed as requests, too. */
  "alarms",
  /** Time in which objects answered requests or alarms, however many at once. Idle time is not
   * billed. */
  "repository active ms",
  "registry active ms",
  /** Rows in SQLite, including those of indexes. */
  "repository rows read",
  "repository rows written",
  "registry rows read",
  "registry rows written",
  /** Each is billed as a row written. */
  "alarms set",
  /** Writes, parts, the beginning and end of a multipart write, listings. */
  "R2 class A operations",
  /** Reads, and looks at an object's head. */
  "R2 class B operations",
] as const;

/** Counts of what is billed. */
export type Bill = Record<(typeof BILLED)[number], number>;

/** An empty bill. */
export function newBill(): Bill {
  return Object.fromEntries(BILLED.map((measure) => [measure, 0])) as Bill;
}

/** Adds one bill to another. */
export function addBill(sum: Bill, bill: Bill): void {
  for (const measure of BILLED) sum[measure] += bill[measure];
}

/** The data in storage. For databases: the pages of all objects, as SQLite counts them. */
export type Stored = Record<"R2 bytes" | "R2 objects" | "repository SQLite bytes" | "registry SQLite bytes", number>;
