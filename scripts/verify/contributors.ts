/** Checks what the API says of commits' authors: `/contributors`, `/activity`, `/stats`. */
import { git } from "../../test/harness/git.ts";
import { type Comparison, type SampledHistory, verifySamples } from "./sampled-history.ts";

interface ContributorPage {
  readonly total: number;
  readonly contributors: readonly { name: string; email: string; commits: number }[];
  readonly nextCursor: string | null;
}

interface Activity {
  readonly total: number;
  readonly periods: readonly { start: string; commits: number }[];
  readonly hours: readonly (readonly number[])[];
}

interface Stats {
  readonly commits: number;
  readonly contributors: number;
  readonly firstCommit: string;
  readonly lastCommit: string;
}

const DAY_MS = 24 * 60 * 60_000;

/** As `git shortlog -sne` prints them. */
async function listContributors(history: SampledHistory, commit: string): Promise<string> {
  const lines: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: ContributorPage = await history.ask(
      `/contributors?ref=${commit}&limit=100&cursor=${cursor}`.replace(/&cursor=$/, ""),
    );
    for (const { name, email, commits } of page.contributors) {
      lines.push(`${String(commits).padStart(6)}\t${name} <${email}>`);
    }
    cursor = page.nextCursor;
  }
  return lines.join("\n");
}

/** "yyyy-mm-dd hh" of each commit, on its author's clock. */
async function listHours({ dir }: SampledHistory, commit: string): Promise<string[]> {
  return (await git(dir, "log", "--format=%ad", "--date=format:%Y-%m-%d %H", commit)).split("\n");
}

/** Lines of a key and how often it is there, by key. */
function countLines(keys: readonly string[]): string {
  const groups = [...Map.groupBy(keys, (key) => key)].map(([key, members]) => `${key} ${members.length}`);
  return groups.toSorted().join("\n");
}

/** The Monday of a day's week. */
function mondayOf(day: string): string {
  const date = new Date(day);
  return new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS).toISOString().slice(0, 10);
}

async function compareActivity(history: SampledHistory, commit: string): Promise<Comparison[]> {
  const all = await listHours(history, commit);
  const until = all.toSorted().at(-1)!.slice(0, 10);
  const since = new Date(Date.parse(until) - 3_000 * DAY_MS).toISOString().slice(0, 10);
  const hours = all.filter((hour) => hour.slice(0, 10) >= since);
  const ask = (per: string) =>
    history.ask<Activity>(`/activity?ref=${commit}&since=${since}&until=${until}&per=${per}`);
  const print = ({ periods }: Activity): string =>
    periods.map(({ start, commits }) => `${start} ${commits}`).join("\n");
  const [byDay, byWeek] = [await ask("day"), await ask("week")];
  const days = hours.map((hour) => hour.slice(0, 10));
  const weekdays = hours.map(
    (hour) => `${(new Date(hour.slice(0, 10)).getUTCDay() + 6) % 7} ${Number(hour.slice(11))}`,
  );
  const table = byDay.hours.flatMap((row, day) =>
    row.flatMap((commits, hour) => (commits === 0 ? [] : [`${day} ${hour} ${commits}`])),
  );
  return [
    { what: "commits by day", actual: print(byDay), expected: countLines(days) },
    { what: "commits by week", actual: print(byWeek), expected: countLines(days.map(mondayOf)) },
    { what: "commits by hour", actual: table.toSorted().join("\n"), expected: countLines(weekdays) },
  ];
}

async function compareStats(history: SampledHistory, commit: string): Promise<Comparison> {
  const { commits, contributors, firstCommit, lastCommit } = await history.ask<Stats>(`/stats?ref=${commit}`);
  const { dir } = history;
  const times = (await git(dir, "log", "--format=%ct", commit))
    .split("\n")
    .map(Number)
    .toSorted((a, b) => a - b);
  const people = (await git(dir, "shortlog", "-sne", commit)).split("\n");
  const [first, last] = [firstCommit, lastCommit].map((time) => Date.parse(time) / 1_000);
  return {
    what: "stats",
    actual: JSON.stringify([commits, contributors, first, last]),
    expected: JSON.stringify([times.length, people.length, times[0], times.at(-1)]),
  };
}

await verifySamples(
  "contributors",
  "Compares contributors with git shortlog -sne, activity with the author dates of git log, stats with both.",
  async (history, commit) => [
    {
      what: "contributors",
      actual: await listContributors(history, commit),
      expected: await git(history.dir, "shortlog", "-sne", commit),
    },
    ...(await compareActivity(history, commit)),
    await compareStats(history, commit),
  ],
);
