/** What the platform counts to write its bill. Objects are Durable Objects. */
import type { Measures } from "../figures/sample.ts";

/** What is billed, by the name of its measure. */
const BILLED = {
  /** Requests from outside, those that were refused included. */
  workerRequests: "Worker requests",
  /** Calls of a repository's object and requests to it; each call of a stub is billed as a request. */
  repositoryRequests: "repository requests",
  registryRequests: "registry requests",
  /** Those that rang: billed as requests, too. */
  alarms: "alarms",
  /** How long objects were active: while they answered a request or an alarm, however many at once. Idle ones are not billed. */
  repositoryActiveMs: "repository active ms",
  registryActiveMs: "registry active ms",
  /** Rows of SQLite, those of indexes included. */
  repositoryRowsRead: "repository rows read",
  repositoryRowsWritten: "repository rows written",
  registryRowsRead: "registry rows read",
  registryRowsWritten: "registry rows written",
  /** Each is billed as a row written. */
  alarmsSet: "alarms set",
  /** Writes, parts, the beginning and end of a multipart write, listings. */
  classA: "R2 class A operations",
  /** Reads, and looks at an object's head. */
  classB: "R2 class B operations",
} as const;

/** Counts of what is billed. */
export type Bill = Record<keyof typeof BILLED, number>;

/** A bill for nothing. */
export function newBill(): Bill {
  return Object.fromEntries(Object.keys(BILLED).map((name) => [name, 0])) as Bill;
}

/** Adds one bill to another. */
export function addBill(sum: Bill, bill: Bill): void {
  for (const name of Object.keys(BILLED) as (keyof Bill)[]) sum[name] += bill[name];
}

/** A bill as measured values. */
export function toMeasures(bill: Bill): Measures {
  return Object.fromEntries(Object.entries(BILLED).map(([name, measure]) => [measure, bill[name as keyof Bill]]));
}

/** What lies in storage. */
export interface Stored {
  readonly bucketBytes: number;
  readonly bucketObjects: number;
  /** Of the databases of all repositories, as SQLite counts its pages. */
  readonly repositoryBytes: number;
  readonly registryBytes: number;
}

/** By how much storage has grown, as measured values. */
export function toGrowth(before: Stored, after: Stored): Measures {
  return {
    "R2 bytes": after.bucketBytes - before.bucketBytes,
    "R2 objects": after.bucketObjects - before.bucketObjects,
    "repository SQLite bytes": after.repositoryBytes - before.repositoryBytes,
    "registry SQLite bytes": after.registryBytes - before.registryBytes,
  };
}
