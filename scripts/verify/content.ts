/** Checks of what the API tells about the files of a commit, and about its authors. */
import { gunzipSync } from "node:zlib";
import { languageOf } from "../../src/base/languages/language.ts";
import { readPorcelain, spreadRanges } from "../../test/harness/blamed-lines.ts";
import { listZip } from "../../test/harness/zip-entries.ts";
import { type Comparison, defineApiCheck, listFiles, type ServedHistory } from "./served-history.ts";

/** Entries of a directory whose last commits are compared: git needs a process for each. */
const LAST_COMMITS = 3;

/** Matches of one search that are compared at most. */
const MATCHES = 3_000;

export const archive = defineApiCheck(
  `A case is a random commit: a tar, which must be git archive's to the byte, the same compressed,
a ZIP with the same entries, all files as git ls-tree -r -l lists them, one directory with the
last commit of each entry as in git log -1, and a search for a random pattern as in git grep -n
-E.`,
  async (history) => {
    const commit = history.pickCommit();
    const { comparison, paths } = await compareFiles(history, commit);
    return [
      comparison,
      ...(await compareArchives(history, commit)),
      ...(paths.length === 0 ? [] : await compareLastCommits(history, commit, paths)),
      ...(paths.length === 0 ? [] : [await compareSearch(history, commit, paths)]),
    ];
  },
);

async function compareArchives(history: ServedHistory, commit: string): Promise<Comparison[]> {
  const archive = (format: string): Promise<Buffer> =>
    history.gitBytes("archive", `--format=${format}`, "--prefix=some/where/", commit);
  const read = (format: string): Promise<Buffer> => history.bytes(`/archive/${commit}.${format}?prefix=some/where/`);
  const [tar, zip] = [await archive("tar"), await archive("zip")];
  const list = async (bytes: Buffer): Promise<string> => (await listZip(bytes)).join("\n");
  return [
    [`tar of ${commit}`, await read("tar"), tar],
    [`tar.gz of ${commit}`, gunzipSync(await read("tar.gz")), tar],
    [`zip of ${commit}`, await list(await read("zip")), await list(zip)],
  ];
}

async function compareFiles(
  history: ServedHistory,
  commit: string,
): Promise<{ readonly comparison: Comparison; readonly paths: readonly string[] }> {
  const { items } = await history.pages<{ path: string; mode: string; oid: string; size: number | null }>(
    `/files/all?ref=${commit}`,
    "files",
  );
  const lines = items.map(({ path, mode, oid, size }) => `${mode} ${oid} ${size ?? "-"}\t${path}\0`);
  const listed = await history.git("ls-tree", "-r", "-l", "-z", commit);
  const expected = listed.replaceAll(/(^|\0)(\d+) \w+ (\w+) +/g, "$1$2 $3 ");
  return { comparison: [`files of ${commit}`, lines.join(""), expected], paths: items.map(({ path }) => path) };
}

async function compareLastCommits(
  history: ServedHistory,
  commit: string,
  paths: readonly string[],
): Promise<Comparison[]> {
  const { random } = history;
  const folder = random.below(2) === 0 ? "" : random.pick(paths).replace(/\/?[^/]*$/, "");
  const { entries } = await history.get<{ entries: { path: string; lastCommit: string | null }[] }>(
    `/files?ref=${commit}&lastCommit=true&path=${encodeURIComponent(folder)}`,
  );
  const comparisons: Comparison[] = [];
  for (const { path, lastCommit } of random.shuffled(entries).slice(0, LAST_COMMITS)) {
    // On a busy machine the API may have run out of time, and says so.
    if (lastCommit === null) continue;
    const last = await history.git("log", "-1", "--format=%H", commit, "--", `:(literal)${path}`);
    comparisons.push([`last commit of ${path} in ${commit}`, lastCommit, last]);
  }
  return comparisons;
}

async function compareSearch(history: ServedHistory, commit: string, paths: readonly string[]): Promise<Comparison> {
  const { random } = history;
  const pattern = await choosePattern(history, `${commit}:${random.pick(paths)}`);
  const [flags, options] = random.pick([
    [[], ""],
    [["-i"], "&ignoreCase=true"],
    [["-w"], "&word=true"],
  ] as const);
  const { items } = await history.pages<{ path: string; line: number }>(
    `/grep?ref=${commit}&limit=1000${options}&pattern=${encodeURIComponent(pattern)}`,
    "matches",
    MATCHES,
  );
  const found = await history.git("grep", "-I", "-n", "-z", "-E", ...flags, "-e", pattern, commit);
  const places = Array.from(found.matchAll(/^[0-9a-f]+:([^\0]*)\0(\d+)\0/gm), ([, path, line]) => `${path}:${line}`);
  const expected = items.length >= MATCHES ? places.slice(0, items.length) : places;
  const actual = items.map(({ path, line }) => `${path}:${line}`);
  return [`search for ${pattern} ${flags.join()} in ${commit}`, actual.join("\n"), expected.join("\n")];
}

/** A pattern with the same meaning in RE2 and in POSIX that probably matches something. */
async function choosePattern(history: ServedHistory, file: string): Promise<string> {
  const { random } = history;
  const text = await history.git("cat-file", "blob", file).catch(() => "");
  const words = text.slice(0, 100_000).match(/[A-Za-z_]{3,}/g) ?? ["nothing"];
  const [one, other] = [random.pick(words), random.pick(words)];
  return random.pick([
    one,
    `${one}[a-z]+`,
    `^ *${one}`,
    `(${one}|${other})$`,
    `${one}.*${other}`,
    `[^a-z]${one}[^a-z]`,
  ]);
}

interface Answer {
  readonly truncated: boolean;
  readonly ranges: Parameters<typeof spreadRanges>[0];
}

/** The server caches trees' contents, so that each attempt gets further. */
const MAX_ATTEMPTS = 10;

export const blame = defineApiCheck(
  `A case is a random file of a random commit: every line of it. Binary files are skipped. If
the API ran out of time, it is asked again.`,
  async (history) => {
    const commit = history.pickCommit();
    const files = await listFiles(history, commit);
    if (files.length === 0) return [];
    const { path } = history.random.pick(files);
    const lines = await askApi(history, commit, path);
    if (lines === null) return [];
    const expected = readPorcelain(await history.git("blame", "--porcelain", commit, "--", path));
    return [[`blame of ${commit} ${path}`, lines.join("\n"), expected.join("\n")]];
  },
);

/** @returns each line as "commit line path"; null for a binary file */
async function askApi(history: ServedHistory, commit: string, path: string): Promise<string[] | null> {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  for (let attempt = 1; ; attempt++) {
    const { status, body } = await history.ask<Answer>(`/blame/${commit}/${encoded}`);
    if (status === 422 && JSON.stringify(body).includes("binary")) return null;
    if (status !== 200) throw new Error(`blame of ${commit} ${path}: ${status} ${JSON.stringify(body)}`);
    if (body.truncated && attempt < MAX_ATTEMPTS) continue;
    return spreadRanges(body.ranges);
  }
}

interface Sum {
  readonly files: number;
  readonly bytes: number;
}

interface Languages extends Sum {
  readonly languages: readonly (Sum & { readonly name: string })[];
  readonly other: Sum;
}

export const languages = defineApiCheck(
  `A case is a random commit: files and bytes, in all and of each language, against the sums of git
ls-tree -r -l.`,
  async (history) => {
    const commit = history.pickCommit();
    const { languages, other, ...total } = await history.get<Languages>(`/languages?ref=${commit}`);
    const stats = await history.get<Sum>(`/stats?ref=${commit}`);
    const files = (await listFiles(history, commit)).map(({ path, bytes }) => {
      // The function takes names as bytes.
      const name = Buffer.from(path.split("/").at(-1)!).toString("latin1");
      return { name: languageOf(name)?.name ?? "other", files: 1, bytes };
    });
    const all = printSum(addSums(files));
    const told = [...languages, ...(other.files > 0 ? [{ name: "other", ...other }] : [])];
    return [
      [`files of ${commit}`, printSum(total), all],
      [`files in stats of ${commit}`, printSum(stats), all],
      [`languages of ${commit}`, listSums(told), listSums(files)],
    ];
  },
);

const addSums = (sums: readonly Sum[]): Sum => ({
  files: sums.reduce((files, one) => files + one.files, 0),
  bytes: sums.reduce((bytes, one) => bytes + one.bytes, 0),
});

const printSum = ({ files, bytes }: Sum): string => `${files} files, ${bytes} bytes`;

const listSums = (sums: readonly (Sum & { readonly name: string })[]): string =>
  [...Map.groupBy(sums, ({ name }) => name)]
    .map(([name, some]) => `${name}: ${printSum(addSums(some))}`)
    .toSorted()
    .join("\n");

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

export const contributors = defineApiCheck(
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
