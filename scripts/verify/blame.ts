/** The API tells of every line of a file what git does: commit, line number and file name there. */
import { defineApiCheck, type ServedHistory } from "./served-history.ts";

interface Answer {
  readonly truncated: boolean;
  readonly ranges: readonly {
    readonly count: number;
    readonly commit: string | null;
    readonly originalStart: number;
    readonly originalPath: string;
  }[];
}

/** What trees held is remembered, so that each time it comes further. */
const MAX_ATTEMPTS = 10;

export default defineApiCheck(
  `A case is a random file of a random commit: every line of it. Binary files are left out; where the time was over before all was found,
the API is asked again.`,
  async (history) => {
    const commit = history.pickCommit();
    const files = await history.listFiles(commit);
    if (files.length === 0) return [];
    const { path } = history.random.pick(files);
    const lines = await askApi(history, commit, path);
    return lines === null
      ? []
      : [[`blame of ${commit} ${path}`, lines.join("\n"), await askGit(history, commit, path)]];
  },
);

/** @returns every line as "commit line path", null of a binary file */
async function askApi(history: ServedHistory, commit: string, path: string): Promise<string[] | null> {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  for (let attempt = 1; ; attempt++) {
    const { status, body } = await history.ask<Answer>(`/blame/${commit}/${encoded}`);
    if (status === 422 && JSON.stringify(body).includes("binary")) return null;
    if (status !== 200) throw new Error(`blame of ${commit} ${path}: ${status} ${JSON.stringify(body)}`);
    if (body.truncated && attempt < MAX_ATTEMPTS) continue;
    return body.ranges.flatMap(({ count, commit: brought, originalStart, originalPath }) =>
      Array.from({ length: count }, (_, i) => `${brought} ${originalStart + i} ${originalPath}`),
    );
  }
}

/** @see git-blame(1), "The porcelain format" */
async function askGit(history: ServedHistory, commit: string, path: string): Promise<string> {
  const lines: string[] = [];
  const paths = new Map<string, string>();
  let head: string[] = [];
  for (const line of (await history.git("blame", "--porcelain", commit, "--", path)).split("\n")) {
    if (line.startsWith("\t")) lines.push(`${head[0]} ${head[1]} ${paths.get(head[0]!)}`);
    else if (line.startsWith("filename ")) paths.set(head[0]!, line.slice("filename ".length));
    else if (/^[0-9a-f]{40} \d/.test(line)) head = line.split(" ");
  }
  return lines.join("\n");
}
