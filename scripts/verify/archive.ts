/** Compares archives, listings and searches of commits with git's. */
import { gunzipSync } from "node:zlib";
import { listZip } from "../../test/harness/zip-entries.ts";
import { type Comparison, defineApiCheck, type ServedHistory } from "./served-history.ts";

/** Entries of a directory whose last commits are compared: git needs a process for each. */
const LAST_COMMITS = 3;

/** Matches of one search that are compared at most. */
const MATCHES = 3_000;

export default defineApiCheck(
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
