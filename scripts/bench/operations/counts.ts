/** From counted operations to what is billed. */
import type { Sample } from "../figures/sample.ts";
import { quantile } from "../figures/summary.ts";
import { OBJECT_GB, type Quantities } from "./prices.ts";

/** One of the samples' repositories. */
export interface Repository {
  readonly repository: string;
  readonly files: number;
}

/** The counted operations. */
export class Counts {
  /** Medians over the rounds, by work and measure. */
  readonly #values = new Map<string, number>();

  constructor(samples: readonly Sample[]) {
    const groups = Map.groupBy(samples, ({ work, measure }) =>
      [work["repository"], work["files"], work["scenario"], work["part"], measure].join("|"),
    );
    for (const [key, group] of groups) {
      const once = group.map(({ work, measure, value }) => (isTotal(measure) ? value : value / Number(work["times"])));
      this.#values.set(key, quantile(once, 0.5));
    }
  }

  /** The counted repositories, in the order of the samples. */
  static listRepositories(samples: readonly Sample[]): Repository[] {
    const known = samples.map(({ work }) => ({ repository: String(work["repository"]), files: Number(work["files"]) }));
    return [...new Map(known.map((one) => [`${one.repository} ${one.files}`, one])).values()];
  }

  /** A measure for doing the work once. Totals at the end (bytes, objects, commits) are returned
   * whole.
   * @param part "work", or "after": its later effects
   * @returns NaN if it was not measured */
  read({ repository, files }: Repository, scenario: string, part: "work" | "after", measure: string): number {
    return this.#values.get([repository, files, scenario, part, measure].join("|")) ?? Number.NaN;
  }

  /** The sum of some measures for doing the work once, with its later effects. */
  sum(repository: Repository, scenario: string, ...measures: readonly string[]): number {
    return measures.reduce((total, measure) => {
      const after = this.read(repository, scenario, "after", measure);
      return total + this.read(repository, scenario, "work", measure) + (Number.isNaN(after) ? 0 : after);
    }, 0);
  }

  /** The bill for doing the work once, with its later effects, without storage. */
  bill(repository: Repository, scenario: string): Quantities {
    const sum = (...measures: readonly string[]): number => this.sum(repository, scenario, ...measures);
    return {
      workerRequests: sum("Worker requests"),
      // The later work runs in objects, whose CPU is not billed.
      cpuMs: this.read(repository, scenario, "work", "CPU ms"),
      objectRequests: sum("repository requests", "registry requests", "alarms"),
      objectGbSeconds: (sum("repository active ms", "registry active ms") / 1000) * OBJECT_GB,
      rowsRead: sum("repository rows read", "registry rows read"),
      rowsWritten: sum("repository rows written", "registry rows written", "alarms set"),
      databaseGbMonths: 0,
      classA: sum("R2 class A operations"),
      classB: sum("R2 class B operations"),
      bucketGbMonths: 0,
    };
  }

  /** GB of storage for each GB of objects, once maintenance after the first push is done: in R2,
   * with the default branch's files and the bundle, and in SQLite. */
  storageOf(repository: Repository): { readonly bucket: number; readonly database: number } {
    const read = (measure: string): number => this.read(repository, "push, new repository", "after", measure);
    const objectBytes = read("object bytes");
    return { bucket: read("R2 bytes") / objectBytes, database: read("repository SQLite bytes") / objectBytes };
  }
}

/** Measures that are reported once, at the end. */
function isTotal(measure: string): boolean {
  return measure.endsWith("bytes") || ["objects", "commits", "R2 objects"].includes(measure);
}
