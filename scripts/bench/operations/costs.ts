/** From counted operations to dollars. */
import type { Sample } from "../figures/sample.ts";
import { median } from "../figures/summary.ts";
import { dollarsFor, type Item, ITEMS, OBJECT_GB, PRICES } from "./prices.ts";

/** How much of each thing is billed. */
export type Quantities = Record<Item, number>;

/** A repository of the samples. */
export interface Repository {
  readonly repository: string;
  readonly files: number;
}

/** What was counted: the file that `npm run bench:operations` writes. */
export class Counts {
  /** Medians over the rounds, by work and measure. */
  readonly #values = new Map<string, number>();

  constructor(samples: readonly Sample[]) {
    const groups = Map.groupBy(samples, ({ work, measure }) =>
      [work["repository"], work["files"], work["scenario"], work["part"], measure].join("|"),
    );
    for (const [key, group] of groups) {
      const times = group.map(({ work, measure, value }) => (isTotal(measure) ? value : value / Number(work["times"])));
      this.#values.set(key, median(times));
    }
  }

  /** A measure of what is done once; of what is told at the end (bytes, objects, commits), in all.
   * @param part "work", or "after": what it causes later
   * @returns not a number, where it was not measured */
  read({ repository, files }: Repository, scenario: string, part: "work" | "after", measure: string): number {
    return this.#values.get([repository, files, scenario, part, measure].join("|")) ?? Number.NaN;
  }

  /** How many repositories the owner of many had; not a number, where that was not measured. */
  readOwned(): number {
    const key = this.#values.keys().find((one) => one.startsWith("owner|"));
    return Number(key?.split("|")[1]);
  }

  /** What doing it once is billed for, what it causes later included, without storage. */
  bill(repository: Repository, scenario: string): Quantities {
    const read = (measure: string): number => {
      const after = this.read(repository, scenario, "after", measure);
      return this.read(repository, scenario, "work", measure) + (Number.isNaN(after) ? 0 : after);
    };
    const sum = (...measures: readonly string[]): number => measures.reduce((total, one) => total + read(one), 0);
    return {
      workerRequests: read("Worker requests"),
      // What comes after is done by objects, whose CPU is not billed.
      cpuMs: this.read(repository, scenario, "work", "CPU ms"),
      objectRequests: sum("repository requests", "registry requests", "alarms"),
      objectGbSeconds: (sum("repository active ms", "registry active ms") / 1000) * OBJECT_GB,
      rowsRead: sum("repository rows read", "registry rows read"),
      rowsWritten: sum("repository rows written", "registry rows written", "alarms set"),
      databaseGbMonths: 0,
      classA: read("R2 class A operations"),
      classB: read("R2 class B operations"),
      bucketGbMonths: 0,
    };
  }

  /** GB of storage for each GB of objects, once housekeeping is done after the first push: of R2, with the files of the default branch and
   * the bundle, and of SQLite. */
  storageOf(repository: Repository): { readonly bucket: number; readonly database: number } {
    const read = (measure: string): number => this.read(repository, "push, new repository", "after", measure);
    const objectBytes = read("object bytes");
    return { bucket: read("R2 bytes") / objectBytes, database: read("repository SQLite bytes") / objectBytes };
  }
}

/** Measures that are told once, at the end. */
function isTotal(measure: string): boolean {
  return measure.endsWith("bytes") || ["objects", "commits", "R2 objects"].includes(measure);
}

/** Nothing. */
export function newQuantities(): Quantities {
  return Object.fromEntries(ITEMS.map((item) => [item, 0])) as Quantities;
}

/** Adds some times a bill to a sum. */
export function addQuantities(sum: Quantities, bill: Quantities, times: number): void {
  for (const item of ITEMS) sum[item] += bill[item] * times;
}

/** What a bill comes to at list prices, with nothing included. */
export function dollarsOf(bill: Quantities): number {
  return ITEMS.reduce((sum, item) => sum + dollarsFor(PRICES[item], bill[item]), 0);
}
