/** List prices of the plan Workers Paid, as of November 2026. */

/** The price of one item. */
interface Price {
  /** The item's name, in the plural. */
  readonly what: string;
  readonly dollars: number;
  /** The quantity that the price is for. */
  readonly per: number;
  /** The monthly quantity included in the plan. */
  readonly included: number;
  /** The platform's page with the price. */
  readonly page: string;
}

/** The plan's price per month, without any use. */
const PLAN_DOLLARS = 5;

/** GB of memory that an active object is billed for, whatever it uses. */
export const OBJECT_GB = 0.128;

const PAGES = {
  worker: "https://developers.cloudflare.com/workers/platform/pricing/",
  object: "https://developers.cloudflare.com/durable-objects/platform/pricing/",
  bucket: "https://developers.cloudflare.com/r2/pricing/",
};

const MILLION = 1_000_000;

function price(page: keyof typeof PAGES, what: string, dollars: number, per: number, included: number): Price {
  return { what, dollars, per, included, page: PAGES[page] };
}

/** The items that a Worker, its objects and its bucket are billed by. */
export const PRICES = {
  workerRequests: price("worker", "requests to the Worker", 0.3, MILLION, 10 * MILLION),
  cpuMs: price("worker", "ms of the Worker's CPU", 0.02, MILLION, 30 * MILLION),
  objectRequests: price("object", "requests, calls and alarms of objects", 0.15, MILLION, MILLION),
  objectGbSeconds: price("object", "GB-s of objects", 12.5, MILLION, 400_000),
  rowsRead: price("object", "rows read", 0.001, MILLION, 25_000 * MILLION),
  rowsWritten: price("object", "rows written", 1, MILLION, 50 * MILLION),
  databaseGbMonths: price("object", "GB-months of SQLite", 0.2, 1, 5),
  classA: price("bucket", "R2 operations of class A", 4.5, MILLION, MILLION),
  classB: price("bucket", "R2 operations of class B", 0.36, MILLION, 10 * MILLION),
  bucketGbMonths: price("bucket", "GB-months of R2", 0.015, 1, 10),
} as const;

/** A billed item. */
type Item = keyof typeof PRICES;

/** All items, in the order of tables. */
export const ITEMS = Object.keys(PRICES) as readonly Item[];

/** The quantity of each item. */
export type Quantities = Record<Item, number>;

/** Zero of each item. */
export function newQuantities(): Quantities {
  return Object.fromEntries(ITEMS.map((item) => [item, 0])) as Quantities;
}

/** The list price of a quantity of an item. */
export function dollarsFor(item: Item, quantity: number): number {
  return (quantity * PRICES[item].dollars) / PRICES[item].per;
}

/** The list price of a bill, with nothing included. */
export function dollarsOf(bill: Quantities): number {
  return ITEMS.reduce((sum, item) => sum + dollarsFor(item, bill[item]), 0);
}

/** A month's price: the plan, and what exceeds its included quantities. */
export function billedDollars(month: Quantities): number {
  const beyond = ITEMS.map((item) => [item, Math.max(0, month[item] - PRICES[item].included)] as const);
  return PLAN_DOLLARS + dollarsOf(Object.fromEntries(beyond) as Quantities);
}
