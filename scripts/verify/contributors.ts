/** Compares the API's figures on commits' authors with git's: `/contributors`, `/activity`,
 * `/stats`. */
import { type Comparison, defineApiCheck, type ServedHistory } from "./served-history.ts";

interface Activity {
  readonly periods: readonly { readonly start: string; readonly commits: number }[];
  readonly hours: readonly (readonly number[])[];
}

interface Stats {
  readonly commits: number;
  readonly contributors: number;
  readonly firstCommit: string;
  readonly lastCommit: string;
}

const DAY_MS = 24 * 60 * 60_000;

export default defineApiCheck(
  `A case is a random commit: contributors against git shortlog -sne, activity against the author
dates of git log, stats against both.`,
  async (history) => {
    const commit = history.pickCommit();
    const { items } = await history.pages<{ name: string; email: string; commits: number }>(
      `/contributors?ref=${commit}&limit=100`,
      "contributors",
    );
    const lines = items.map(({ name, email, commits }) => `${String(commits).padStart(6)}\t${name} <${email}>`);
    const people = await history.git("shortlog", "-sne", commit);
    const times = (await history.git("log", "--format=%ct", commit))
      .split("\n")
      .toSorted((a, b) => Number(a) - Number(b));
    const stats = await history.get<Stats>(`/stats?ref=${commit}`);
    const ends = [stats.firstCommit, stats.lastCommit].map((time) => Date.parse(time) / 1_000);
    return [
      [`contributors of ${commit}`, lines.join("\n"), people],
      ...(await compareActivity(history, commit)),
      [
        `stats of ${commit}`,
        [stats.commits, stats.contributors, ...ends].join(),
        [times.length, people.split("\n").length, times[0], times.at(-1)].join(),
      ],
    ];
  },
);

async function compareActivity(history: ServedHistory, commit: string): Promise<Comparison[]> {
  // "yyyy-mm-dd hh" of each commit, in its author's time zone.
  const all = (await history.git("log", "--format=%ad", "--date=format:%Y-%m-%d %H", commit)).split("\n");
  const until = all.toSorted().at(-1)!.slice(0, 10);
  const since = new Date(Date.parse(until) - 3_000 * DAY_MS).toISOString().slice(0, 10);
  const hours = all.filter((hour) => hour >= since);
  const ask = (per: string): Promise<Activity> =>
    history.get<Activity>(`/activity?ref=${commit}&since=${since}&until=${until}&per=${per}`);
  const print = ({ periods }: Activity): string =>
    periods.map(({ start, commits }) => `${start} ${commits}`).join("\n");
  const byDay = await ask("day");
  const table = byDay.hours.flatMap((row, day) =>
    row.flatMap((commits, hour) => (commits > 0 ? [`${day} ${hour} ${commits}`] : [])),
  );
  return [
    [`days of ${commit}`, print(byDay), countLines(hours.map((hour) => hour.slice(0, 10)))],
    [`weeks of ${commit}`, print(await ask("week")), countLines(hours.map(mondayOf))],
    [
      `hours of ${commit}`,
      table.toSorted().join("\n"),
      countLines(hours.map((hour) => `${weekdayOf(hour)} ${Number(hour.slice(11))}`)),
    ],
  ];
}

/** Lines with a key and its count, sorted by key. */
function countLines(keys: readonly string[]): string {
  return [...Map.groupBy(keys, (key) => key)]
    .map(([key, { length }]) => `${key} ${length}`)
    .toSorted()
    .join("\n");
}

/** 0: Monday. */
function weekdayOf(hour: string): number {
  return (new Date(hour.slice(0, 10)).getUTCDay() + 6) % 7;
}

/** The Monday of a day's week. */
function mondayOf(hour: string): string {
  return new Date(Date.parse(hour.slice(0, 10)) - weekdayOf(hour) * DAY_MS).toISOString().slice(0, 10);
}
