/** Compares blame for each line of a file with git's: commit, line number and file name there. */
import { readPorcelain, spreadRanges } from "../../test/harness/blamed-lines.ts";
import { defineApiCheck, type ServedHistory } from "./served-history.ts";

interface Answer {
  readonly truncated: boolean;
  readonly ranges: Parameters<typeof spreadRanges>[0];
}

/** The server caches trees' contents, so that each attempt gets further. */
const MAX_ATTEMPTS = 10;

export default defineApiCheck(
  `A case is a random file of a random commit: every line of it. Binary files are skipped. If
the API ran out of time, it is asked again.`,
  async (history) => {
    const commit = history.pickCommit();
    const files = await history.listFiles(commit);
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
