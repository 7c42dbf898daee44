/** From counted operations to what is billed. */
import type { Sample } from "../figures/sample.ts";
import { quantile } from "../figures/summary.ts";
import { OBJECT_GB, type Quantities } from "./prices.ts";

/** A repository of the samples. */
export interface Repository {
  readonly repository: string;
  readonly files: number;
}

/** What was counted. */
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

  /** The repositories that were counted, in the order of the samples. */
  static listRepositories(samples: readonly Sample[]): Repository[] {
    const known = samples.map(({ work }) => ({ repository: String(work["repository"]), files: Number(work["files"]) }));
    return [...new Map(known.map((one) => [`${one.repository} ${one.files}`, one])).values()];
  }

  /** A measure of what is done once; of what is told at the end (bytes, objects, commits), in all.
   * @param part "work", or "after": what it causes later
   * @returns not a number, where it was not measured */
  read({ repository, files }: Repository, scenario: string, part: "work" | "after", measure: string): number {
    return this.#values.get([repository, files, scenario, part, measure].join("|")) ?? Number.NaN;
  }

  /** Some measures of what is done once, what it causes later included. */
  sum(repository: Repository, scenario: string, ...measures: readonly string[]): number {
    return measures.reduce((total, measure) => {
      const after = this.read(repository, scenario, "after", measure);
      return total + this.read(repository, scenario, "work", measure) + (Number.isNaN(after) ? 0 : after);
    }, 0);
  }

  /** What doing it once is billed for, what it causes later included, without storage. */
  bill(repository: Repository, scenario: string): Quantities {
    const sum = (...measures: readonly string[]): number => this.sum(repository, scenario, ...measures);
    return {
      workerRequests: sum("Worker requests"),
      // What comes after is done by objects, whose CPU is not billed.
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

  /** GB of storage for each GB of objects, once housekeeping is done after the first push: of R2, with the
   * files of the default branch and the bundle, and of SQLite. */
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
