/** From counted operations to bills: by repository, by size, of storage, and of months. */
import type { Sample } from "../figures/sample.ts";
import { formatRows, formatValue, quantile } from "../figures/table.ts";
import {
  billedDollars,
  dollarsFor,
  dollarsOf,
  ITEMS,
  newQuantities,
  OBJECT_GB,
  PRICES,
  type Quantities,
} from "./prices.ts";

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

/** All tables that the samples have values for. */
export function formatOperations(samples: readonly Sample[]): string {
  const counts = new Counts(samples);
  const repositories = Counts.listRepositories(samples);
  const scenarios = [...new Set(samples.map(({ work }) => String(work["scenario"])))];
  const hasLife = (one: Repository): boolean => one.repository !== "owner";
  const tables = repositories.map((repository) => formatCounts(counts, repository, scenarios));
  tables.push(formatStorage(counts, repositories.filter(hasLife)), formatMonths(counts));
  return tables.filter((table) => table !== "").join("\n");
}

function nameOf({ repository, files }: Repository): string {
  return repository === "owner" ? `owner of ${files} repositories` : `${repository}, ${files} files`;
}

function format(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return `${formatRows([head, ...rows], head.map((_, column) => column).slice(1))}\n`;
}

/** A count, rounded to its first digits if it is not whole. */
function formatCount(count: number): string {
  if (!Number.isFinite(count)) return "–";
  const rounded = Math.abs(count) >= 100 ? Math.round(count) : Number(count.toPrecision(2));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

/** Each kind of work, done once: what is billed, the registry's share of it, and how long objects
 * are active. */
function formatCounts(counts: Counts, repository: Repository, scenarios: readonly string[]): string {
  const columns: Readonly<Record<string, (scenario: string, bill: Quantities) => number>> = {
    "Worker requests": (_, bill) => bill.workerRequests,
    "object requests": (_, bill) => bill.objectRequests,
    "the registry's": (scenario) => counts.sum(repository, scenario, "registry requests"),
    "its rows read": (scenario) => counts.sum(repository, scenario, "registry rows read"),
    "its rows written": (scenario) => counts.sum(repository, scenario, "registry rows written"),
    "rows read": (_, bill) => bill.rowsRead,
    "rows written": (_, bill) => bill.rowsWritten,
    "class A": (_, bill) => bill.classA,
    "class B": (_, bill) => bill.classB,
    "repository ms": (scenario) => counts.read(repository, scenario, "work", "repository active ms"),
    "ms after": (scenario) => counts.read(repository, scenario, "after", "repository active ms"),
    "registry ms": (scenario) => counts.sum(repository, scenario, "registry active ms"),
    "CPU ms": (_, bill) => bill.cpuMs,
  };
  const rows = scenarios.flatMap((scenario) => {
    const bill = counts.bill(repository, scenario);
    if (Number.isNaN(bill.workerRequests)) return [];
    const values = Object.values(columns).map((column) => formatCount(column(scenario, bill)));
    return [[scenario, ...values, formatValue(1000 * dollarsOf(bill))]];
  });
  return format([`${nameOf(repository)}, once`, ...Object.keys(columns), "$ per 1,000"], rows);
}

function formatStorage(counts: Counts, repositories: readonly Repository[]): string {
  const head = ["", "objects", "commits", "MB of objects", "R2 per GB", "SQLite per GB", "$ a GB-month"];
  const rows = repositories.map((repository) => {
    const read = (measure: string): number => counts.read(repository, "push, new repository", "after", measure);
    const { bucket, database } = counts.storageOf(repository);
    const dollars = dollarsFor("bucketGbMonths", bucket) + dollarsFor("databaseGbMonths", database);
    const told = [read("objects"), read("commits"), read("object bytes") / 1e6].map(formatCount);
    const perObject = `${formatValue(database)} (${formatCount(read("repository SQLite bytes") / read("objects"))} bytes an object)`;
    return [nameOf(repository), ...told, formatValue(bucket), perObject, formatValue(dollars)];
  });
  return format(head, rows);
}

/** Days of a billed month. */
const DAYS = 30;

const LARGE: Repository = { repository: "noise", files: 5_000 };
const HISTORY: Repository = { repository: "history", files: 300 };
const LONG: Repository = { repository: "long history", files: 40 };

/** A use of a deployment: GB of objects, commits in the graph beyond those counted, and how often a
 * day each scenario occurs. */
interface Use {
  readonly gb: number;
  readonly stored: Repository;
  readonly commits?: number;
  readonly counted: Repository;
  readonly perDay: Readonly<Record<string, number>>;
}

const USES: Readonly<Record<string, Use>> = {
  small: { gb: 1, stored: HISTORY, counted: HISTORY, perDay: listDay([50, 20, 200, 200, 10, 500]) },
  CI: {
    gb: 0.5,
    stored: LARGE,
    counted: LARGE,
    perDay: { ...listDay([100, 0, 300, 1_000, 10, 500]), "CI clones, 20 at once, new commit": 2_000 },
  },
  monorepo: {
    gb: 5,
    stored: HISTORY,
    commits: 200_000,
    counted: LARGE,
    perDay: { ...listDay([500, 100, 2_000, 2_000, 5, 2_000]), "CI clone, new commit": 2_000 },
  },
};

function listDay(times: readonly number[]): Record<string, number> {
  const works = [
    "push, small",
    "commit by the API",
    "fetch, one commit",
    "fetch, nothing new",
    "clone, first",
    "read files",
  ];
  return Object.fromEntries(works.map((work, index) => [work, times[index]!]));
}

/** The monthly bill of the uses in docs/cost.md. */
function formatMonths(counts: Counts): string {
  const months = Object.values(USES).map((use) => monthOf(use, counts));
  if (!months.every((month) => Number.isFinite(dollarsOf(month)))) return "";
  const rows = ITEMS.map((item) => [
    PRICES[item].what,
    ...months.flatMap((month) => [formatCount(month[item]), formatValue(dollarsFor(item, month[item]))]),
  ]);
  const total = (name: string, of: (month: Quantities) => number): string[] => [
    name,
    ...months.flatMap((month) => ["", formatValue(of(month))]),
  ];
  rows.push(total("at list prices", dollarsOf), total("billed, with the plan", billedDollars));
  return format(["a month", ...Object.keys(USES).flatMap((name) => [name, "$"])], rows);
}

function monthOf({ gb, stored, commits = 0, counted, perDay }: Use, counts: Counts): Quantities {
  const month = newQuantities();
  for (const [scenario, times] of Object.entries(perDay)) {
    const bill = counts.bill(counted, scenario);
    for (const item of ITEMS) month[item] += bill[item] * times * DAYS;
  }
  // An object that wakes reads a row for each commit of its history. This assumes that it wakes for
  // each piece of work.
  const wakes = Object.values(perDay).reduce((sum, times) => sum + times, 0) * DAYS;
  const rows = counts.read(LONG, "clone, first", "work", "repository rows read");
  const perCommit = rows / counts.read(LONG, "push, new repository", "after", "commits");
  if (commits > 0) month.rowsRead += wakes * commits * perCommit;
  const { bucket, database } = counts.storageOf(stored);
  return { ...month, bucketGbMonths: gb * bucket, databaseGbMonths: gb * database };
}
