/** What the platform counts to write its bill, by the names of measures. Objects are Durable Objects. */

/** What is billed. */
const BILLED = [
  /** From outside, those that were refused included. */
  "Worker requests",
  /** Calls of a repository's object and requests to it; each call of a stub is billed as a request. */
  "repository requests",
  "registry requests",
  /** Those that rang: billed as requests, too. */
  "alarms",
  /** While objects answered a request or an alarm, however many at once. Idle ones are not billed. */
  "repository active ms",
  "registry active ms",
  /** Of SQLite, those of indexes included. */
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

/** A bill for nothing. */
export function newBill(): Bill {
  return Object.fromEntries(BILLED.map((measure) => [measure, 0])) as Bill;
}

/** Adds one bill to another. */
export function addBill(sum: Bill, bill: Bill): void {
  for (const measure of BILLED) sum[measure] += bill[measure];
}

/** What lies in storage: of databases, those of all objects, as SQLite counts its pages. */
export type Stored = Record<"R2 bytes" | "R2 objects" | "repository SQLite bytes" | "registry SQLite bytes", number>;
