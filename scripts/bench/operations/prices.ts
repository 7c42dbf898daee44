/** List prices, as they stood in November 2026. Whatever in docs/cost.md is in dollars is made of these. */

/** What one thing costs. */
export interface Price {
  /** What is paid for, in the plural. */
  readonly what: string;
  readonly dollars: number;
  /** For how many. */
  readonly per: number;
  /** How many a month are in the price of the plan. */
  readonly included: number;
  /** Where the platform says so. */
  readonly page: string;
}

const WORKERS_PAGE = "https://developers.cloudflare.com/workers/platform/pricing/";
const OBJECTS_PAGE = "https://developers.cloudflare.com/durable-objects/platform/pricing/";
const BUCKET_PAGE = "https://developers.cloudflare.com/r2/pricing/";

const MILLION = 1_000_000;

/** What the plan Workers Paid costs a month, whatever is used. */
export const PLAN_DOLLARS = 5;

/** What a Worker, its objects and its bucket are billed by, on Workers Paid. */
export const PRICES = {
  workerRequests: {
    what: "requests to the Worker",
    dollars: 0.3,
    per: MILLION,
    included: 10 * MILLION,
    page: WORKERS_PAGE,
  },
  cpuMs: { what: "ms of the Worker's CPU", dollars: 0.02, per: MILLION, included: 30 * MILLION, page: WORKERS_PAGE },
  objectRequests: {
    what: "requests, calls and alarms of objects",
    dollars: 0.15,
    per: MILLION,
    included: MILLION,
    page: OBJECTS_PAGE,
  },
  objectGbSeconds: { what: "GB-s of objects", dollars: 12.5, per: MILLION, included: 400_000, page: OBJECTS_PAGE },
  rowsRead: { what: "rows read", dollars: 0.001, per: MILLION, included: 25_000 * MILLION, page: OBJECTS_PAGE },
  rowsWritten: { what: "rows written", dollars: 1, per: MILLION, included: 50 * MILLION, page: OBJECTS_PAGE },
  databaseGbMonths: { what: "GB-months of SQLite", dollars: 0.2, per: 1, included: 5, page: OBJECTS_PAGE },
  classA: { what: "R2 operations of class A", dollars: 4.5, per: MILLION, included: MILLION, page: BUCKET_PAGE },
  classB: { what: "R2 operations of class B", dollars: 0.36, per: MILLION, included: 10 * MILLION, page: BUCKET_PAGE },
  bucketGbMonths: { what: "GB-months of R2", dollars: 0.015, per: 1, included: 10, page: BUCKET_PAGE },
} as const satisfies Record<string, Price>;

/** Something that is billed. */
export type Item = keyof typeof PRICES;

/** All of them, in the order of tables. */
export const ITEMS = Object.keys(PRICES) as readonly Item[];

/** GB of memory that an active object is billed for, whatever it uses. */
export const OBJECT_GB = 0.128;

/** The platform's own Git host, once it is out of its beta. */
export const MANAGED = {
  operations: {
    what: "operations: create, push, pull, clone",
    dollars: 0.15,
    per: 1_000,
    included: 10_000,
    page: "https://developers.cloudflare.com/artifacts/platform/pricing/",
  },
  gbMonths: {
    what: "GB-months",
    dollars: 0.5,
    per: 1,
    included: 1,
    page: "https://developers.cloudflare.com/artifacts/platform/pricing/",
  },
} as const satisfies Record<string, Price>;

/** GB that one of its repositories may have. @see https://developers.cloudflare.com/artifacts/platform/limits/ */
export const MANAGED_REPOSITORY_GB = 1;

/** What something costs. @param quantity of what the price is for */
export function dollarsFor({ dollars, per }: Price, quantity: number): number {
  return (quantity * dollars) / per;
}
