/** The tables of docs/cost.md. */
import { formatValue } from "../figures/table.ts";
import { type Counts, dollarsOf, type Repository } from "./costs.ts";
import { formatMarkdown } from "./markdown.ts";
import { dollarsFor, ITEMS, MANAGED, MANAGED_REPOSITORY_GB, PLAN_DOLLARS, type Price, PRICES } from "./prices.ts";
import { HISTORY, LARGE, LONG, managedUse, MIDDLE, monthOf, SMALL, USES } from "./uses.ts";

/** The columns of tables by size. */
const SIZES: readonly (readonly [head: string, repository: Repository])[] = [
  ["100 files", SMALL],
  ["1K files", MIDDLE],
  ["5K files", LARGE],
  ["history", HISTORY],
];

const PUSHES = {
  "push of a new repository": "push, new repository",
  "small push": "push, small",
  "small push, without files of branches in R2": "push, small, no worktree",
  "commit by the API": "commit by the API",
};

const CLONES = {
  "clone, the first": "clone, first",
  "clone, the second: its response is stored": "clone, second",
  "clone, response stored": "clone, stored",
  "clone, by `bundle-uri`": "clone, bundle-uri",
  "CI clone (`--depth=1`) of a new commit": "CI clone, new commit",
  "CI clone of a new commit, one of 20 at once": "CI clones, 20 at once, new commit",
  "CI clone, one of 20 at once, response stored": "CI clones, 20 at once, stored",
};

const FETCHES = {
  "fetch of one commit": "fetch, one commit",
  "fetch of nothing new": "fetch, nothing new",
  "the same, from an object that is awake": "fetch, nothing new, awake",
  "list of a directory": "read files",
  "raw file": "read raw",
  log: "read log",
  "deletion of a repository": "delete",
};

const EVERY = { ...PUSHES, ...CLONES, ...FETCHES };

/** The tables by their names. */
export function makeCostTables(counts: Counts): Record<string, string> {
  return {
    prices: formatPrices(),
    counts: formatCounts(counts),
    pushes: formatDollars(counts, PUSHES),
    clones: formatDollars(counts, CLONES),
    fetches: formatDollars(counts, FETCHES),
    storage: formatStorage(counts),
    uses: formatUses(),
    months: formatMonths(counts),
  };
}

/** Dollars with three digits that count. */
function formatDollar(dollars: number): string {
  if (!Number.isFinite(dollars)) return "–";
  if (dollars === 0) return "0";
  return dollars < 0.0001 ? "< 0.0001" : formatValue(dollars);
}

/** A count with its thousands apart, and its first digits where it is none that is whole. */
export function formatCount(count: number): string {
  if (!Number.isFinite(count)) return "–";
  const rounded = Math.abs(count) >= 100 ? Math.round(count) : Number(count.toPrecision(2));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

function formatPrices(): string {
  const row = ({ what, dollars, per, included, page }: Price): string[] => [
    `[${what}](${page})`,
    per === 1 ? `$${dollars}` : `$${dollars} per ${per.toLocaleString("en-US")}`,
    included.toLocaleString("en-US"),
  ];
  const head = ["", "list price", "included a month"];
  return formatMarkdown([head, ...Object.values(PRICES).map(row), ...Object.values(MANAGED).map(row)], [1, 2]);
}

function formatCounts(counts: Counts): string {
  const head = [
    "once, 1K files",
    "Worker requests",
    "object requests",
    "rows read",
    "rows written",
    "class A",
    "class B",
    "active ms",
    "CPU ms",
  ];
  const rows = Object.entries(EVERY).map(([name, scenario]) => {
    const bill = counts.bill(MIDDLE, scenario);
    const read = (measure: string): number =>
      counts.read(MIDDLE, scenario, "work", measure) + (counts.read(MIDDLE, scenario, "after", measure) || 0);
    const activeMs = read("repository active ms") + read("registry active ms");
    const { workerRequests, objectRequests, rowsRead, rowsWritten, classA, classB, cpuMs } = bill;
    const values = [workerRequests, objectRequests, rowsRead, rowsWritten, classA, classB, activeMs, cpuMs];
    return [name, ...values.map(formatCount)];
  });
  return formatMarkdown([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8]);
}

function formatDollars(counts: Counts, scenarios: Readonly<Record<string, string>>): string {
  const rows = Object.entries(scenarios).map(([name, scenario]) => [
    name,
    ...SIZES.map(([, repository]) => formatDollar(1_000 * dollarsOf(counts.bill(repository, scenario)))),
  ]);
  return formatMarkdown([["$ per 1,000", ...SIZES.map(([head]) => head)], ...rows], [1, 2, 3, 4]);
}

function formatStorage(counts: Counts): string {
  const rows = [...SIZES, ["long history", LONG] as const].map(([name, repository]) => {
    const read = (measure: string): number => counts.read(repository, "push, new repository", "after", measure);
    const { bucket, database } = counts.storageOf(repository);
    const dollars = dollarsFor(PRICES.bucketGbMonths, bucket) + dollarsFor(PRICES.databaseGbMonths, database);
    return [
      name,
      formatCount(read("objects")),
      formatCount(read("commits")),
      formatCount(read("object bytes") / 1e6),
      formatValue(bucket),
      formatValue(database),
      `$${formatDollar(dollars)}`,
    ];
  });
  const head = ["", "objects", "commits", "MB of objects", "GB of R2 per GB", "GB of SQLite per GB", "a GB-month"];
  return formatMarkdown([head, ...rows], [1, 2, 3, 4, 5, 6]);
}

function formatUses(): string {
  const names = [...new Set(USES.flatMap(({ shares }) => shares.map(({ what }) => what)))];
  const rows = [
    ["repositories", ...USES.map(({ repositories }) => String(repositories))],
    ["GB of objects", ...USES.map(({ gb }) => String(gb))],
    ["commits of a repository", ...USES.map(({ commits }) => (commits === null ? "as counted" : formatCount(commits)))],
    ["operations counted on", ...USES.map(({ shares: [share] }) => nameRepository(share!.repository))],
    ...names.map((name) => [
      `${name}, a day`,
      ...USES.map(({ shares }) => formatCount(shares.find(({ what }) => what === name)?.perDay ?? 0)),
    ]),
  ];
  return formatMarkdown([["", ...USES.map(({ name }) => name)], ...rows], [1, 2, 3]);
}

function nameRepository(wanted: Repository): string {
  return SIZES.find(([, repository]) => repository === wanted)![0];
}

function formatMonths(counts: Counts): string {
  const months = USES.map((use) => monthOf(use, counts));
  const rows = ITEMS.map((item) => [
    PRICES[item].what,
    ...months.flatMap((month) => [formatCount(month[item]), formatDollar(dollarsFor(PRICES[item], month[item]))]),
  ]);
  const list = months.map(dollarsOf);
  const billed = months.map(
    (month) =>
      PLAN_DOLLARS +
      ITEMS.reduce((sum, item) => {
        const beyond = Math.max(0, month[item] - PRICES[item].included);
        return sum + dollarsFor(PRICES[item], beyond);
      }, 0),
  );
  const total = (name: string, dollars: readonly (number | string)[]): string[] => [
    name,
    ...dollars.flatMap((value) => ["", `**${typeof value === "string" ? value : formatDollar(value)}**`]),
  ];
  return formatMarkdown(
    [
      ["a month", ...USES.flatMap(({ name }) => [name, "$"])],
      ...rows,
      total("at list prices, nothing included", list),
      total(`billed: $${PLAN_DOLLARS} and what is not included`, billed),
      total(
        "the managed host, nothing included",
        USES.map((use) => managedDollars(use, false)),
      ),
      total(
        "the managed host, billed",
        USES.map((use) => managedDollars(use, true)),
      ),
    ],
    [1, 2, 3, 4, 5, 6],
  );
}

/** What the managed host would bill, the same plan included; or that it would not do. */
function managedDollars(use: (typeof USES)[number], isBilled: boolean): number | string {
  const { operations, gb, repositoryGb } = managedUse(use);
  if (repositoryGb > MANAGED_REPOSITORY_GB) return `does not fit: ${MANAGED_REPOSITORY_GB} GB a repository`;
  const beyond = (price: Price, quantity: number): number =>
    dollarsFor(price, Math.max(0, quantity - (isBilled ? price.included : 0)));
  return (isBilled ? PLAN_DOLLARS : 0) + beyond(MANAGED.operations, operations) + beyond(MANAGED.gbMonths, gb);
}
