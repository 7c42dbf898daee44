/** The tables of docs/scaling.md. */
import { formatValue } from "../figures/table.ts";
import { formatCount } from "./cost-tables.ts";
import type { Counts, Repository } from "./costs.ts";
import { formatMarkdown } from "./markdown.ts";
import { HISTORY, LARGE, LONG, MIDDLE } from "./uses.ts";

/** Requests a second that one object takes, more or less. @see https://developers.cloudflare.com/durable-objects/platform/limits/ */
const OBJECT_REQUESTS = 1_000;

/** Bytes of SQLite that one object takes. @see the same page */
const DATABASE_BYTES = 10e9;

/** Requests to other services that one request to a Worker may make. @see https://developers.cloudflare.com/workers/platform/limits/ */
const SUBREQUESTS = 10_000;

const WORK = {
  "small push": "push, small",
  "commit by the API": "commit by the API",
  "fetch of one commit": "fetch, one commit",
  "fetch of nothing new, object awake": "fetch, nothing new, awake",
  "first clone": "clone, first",
  "CI clone of a new commit": "CI clone, new commit",
  "CI clone, one of 20 at once": "CI clones, 20 at once, new commit",
  "list of a directory": "read files",
};

/** The tables by their names. */
export function makeScaleTables(counts: Counts): Record<string, string> {
  return {
    object: formatObject(counts),
    database: formatDatabase(counts),
    gets: formatGets(counts),
    registry: formatRegistry(counts),
    owner: formatOwner(counts),
  };
}

/** A measure of the repository of 1,000 files; what comes after nothing is nothing. */
function readPart(counts: Counts, scenario: string, part: "work" | "after", measure: string): number {
  const value = counts.read(MIDDLE, scenario, part, measure);
  return part === "after" && Number.isNaN(value) ? 0 : value;
}

/** What one repository's object does a second, one after the other. */
function formatObject(counts: Counts): string {
  const rows = Object.entries(WORK).map(([name, scenario]) => {
    const read = (part: "work" | "after", measure: string): number => readPart(counts, scenario, part, measure);
    const requests = read("work", "repository requests") + read("after", "alarms");
    const activeMs = read("work", "repository active ms") + read("after", "repository active ms");
    return [
      name,
      formatValue(requests),
      formatCount(Math.round(OBJECT_REQUESTS / requests)),
      formatValue(read("work", "repository active ms")),
      formatValue(read("after", "repository active ms")),
      formatCount(Math.round(1000 / activeMs)),
    ];
  });
  const head = ["1K files", "object requests", "a second, by those", "active ms", "ms after", "a second, by those ms"];
  return formatMarkdown([head, ...rows], [1, 2, 3, 4, 5]);
}

/** What fits into a database. */
function formatDatabase(counts: Counts): string {
  const created = "push, new repository";
  const perOne = (repository: Repository, scenario: string, count: number): number =>
    counts.read(repository, scenario, "after", "repository SQLite bytes") / count;
  const told = (repository: Repository, measure: string): number => counts.read(repository, created, "after", measure);
  const rows: [string, number][] = [
    ["object, 5K files in one commit", perOne(LARGE, created, told(LARGE, "objects"))],
    ["object, history", perOne(HISTORY, created, told(HISTORY, "objects"))],
    ["object, long history", perOne(LONG, created, told(LONG, "objects"))],
    ["commit of one file with its trees, long history", perOne(LONG, created, told(LONG, "commits"))],
    ["ref", perOne(MIDDLE, "push, 1,000 tags", 1_000)],
  ];
  const cells = rows.map(([name, bytes]) => [name, formatCount(bytes), formatMillions(DATABASE_BYTES / bytes)]);
  return formatMarkdown([["", "bytes of SQLite", "in 10 GB, millions"], ...cells], [1, 2]);
}

function formatMillions(count: number): string {
  return formatCount(count / 1e6);
}

/** How large a clone may be. */
function formatGets(counts: Counts): string {
  const rows = Object.entries({ "5K files": LARGE, history: HISTORY }).map(([name, repository]) => {
    const gets = counts.read(repository, "clone, first", "work", "R2 class B operations");
    const megabytes = counts.read(repository, "push, new repository", "after", "object bytes") / 1e6;
    return [name, formatValue(megabytes), formatValue(gets), formatCount((SUBREQUESTS * megabytes) / gets / 1000)];
  });
  return formatMarkdown([["first clone", "MB", "gets", "GB by 10,000 gets"], ...rows], [1, 2, 3]);
}

/** How much work of all repositories the registry bears. */
function formatRegistry(counts: Counts): string {
  const rows = Object.entries({ "push of a new repository": "push, new repository", ...WORK }).map(
    ([name, scenario]) => {
      const read = (measure: string): number =>
        readPart(counts, scenario, "work", measure) + readPart(counts, scenario, "after", measure);
      const requests = read("registry requests");
      return [
        name,
        formatValue(requests),
        formatCount(read("registry rows read")),
        formatCount(read("registry rows written")),
        formatCount(Math.round(OBJECT_REQUESTS / requests)),
      ];
    },
  );
  const head = ["", "registry requests", "rows read", "rows written", "a second, by those requests"];
  return formatMarkdown([head, ...rows], [1, 2, 3, 4]);
}

/** What an owner's quota makes of finding a repository. */
function formatOwner(counts: Counts): string {
  const repositories = counts.readOwned();
  const rows = Object.entries({
    "without a quota": "read branches",
    "with a quota of the owner": "read branches, owner with a quota",
  }).map(([name, scenario]) => {
    const read = (measure: string): number =>
      counts.read({ repository: "owner", files: repositories }, scenario, "work", measure);
    const perRequest = read("registry active ms") / read("registry requests");
    return [name, formatCount(read("registry rows read")), formatValue(perRequest)];
  });
  const head = [`read of one of ${formatCount(repositories)} repositories`, "registry rows read", "ms of the registry"];
  return formatMarkdown([head, ...rows], [1, 2]);
}
