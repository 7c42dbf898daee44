// Parameters, reading and sending of a comparison, for all pages that show one.
import type { DiffFrame } from "../parts/diff-file.tsx";
import { drawDiff, drawFileDiff } from "../parts/diff-view.tsx";
import { readFlag, readNumber } from "../parts/query.ts";
import { withQuery } from "../parts/urls.ts";
import type { RepositoryClient } from "../../../contract/calls.ts";

/** Maximum number of changed files on a page, and of bytes of their patches. */
const PAGE_FILES = 100;
const PAGE_BYTES = 1024 * 1024;

/** The two sides of a comparison: commits or trees, by their ids in hex. */
export interface DiffEnds {
  /** Null: an empty tree. */
  readonly base: string | null;
  readonly head: string;
}

/** Parameters that `readAskedDiff` reads. */
export const DIFF_QUERY = ["start", "file", "line", "view", "w"] as const;

/** Parameters of a comparison in the query of a URL. */
interface AskedDiff extends Pick<DiffFrame, "isSplit" | "ignoresBlanks" | "link"> {
  /** Number of files before the first one shown. */
  readonly start: number;
  /** The only file to show, by its index; null: all. */
  readonly file: number | null;
  /** Number of the patch's lines before the first one shown. */
  readonly line: number;
}

/** Reads the parameters of a comparison.
 * @param here path of the page
 * @param kept further fields of the query, which all links keep
 * @throws GitError "invalid" */
export function readAskedDiff(
  query: URLSearchParams,
  here: string,
  kept: Readonly<Record<string, string | null>> = {},
): AskedDiff {
  const numbers = {
    start: readNumber(query, "start"),
    file: readNumber(query, "file"),
    line: readNumber(query, "line"),
  };
  const isSplit = readFlag(query, "view", "split");
  const ignoresBlanks = readFlag(query, "w", "1");
  const fields = { ...kept, view: isSplit ? "split" : null, w: ignoresBlanks ? "1" : null };
  const text = (number: number | null) => (number === null ? null : `${number}`);
  const places = { start: text(numbers.start), file: text(numbers.file), line: text(numbers.line) };
  return {
    isSplit,
    ignoresBlanks,
    start: numbers.start ?? 0,
    file: numbers.file,
    line: numbers.line ?? 0,
    link: (changed) => withQuery(here, { ...fields, ...places, ...changed }),
  };
}

/** Renders the content of a page that ends with a comparison.
 * @param head HTML before it, which is sent before anything else is read
 * @param more renders the part after the head
 * @throws GitError "not-found" for a file that is not among the changed ones */
export async function streamDiff(
  head: string,
  repository: RepositoryClient,
  ends: DiffEnds,
  { file, line, start, ...asked }: AskedDiff,
  sides: Pick<DiffFrame, "old" | "next">,
  more: () => Promise<string> = () => Promise.resolve(""),
): Promise<AsyncIterable<string>> {
  const { ignoresBlanks } = asked;
  if (file !== null) {
    // Read before anything is sent, since the file may not exist.
    const read = await repository.fileDiff({ ...ends, start: file, fromLine: line, ignoresBlanks });
    return pieces([head, drawFileDiff({ ...asked, ...sides, start: file }, read)]);
  }
  return (async function* () {
    yield head;
    yield await more();
    const page = await repository.diff({ ...ends, start, ignoresBlanks, limit: PAGE_FILES, pageBytes: PAGE_BYTES });
    yield* drawDiff({ ...asked, ...sides, start }, page);
  })();
}

async function* pieces(all: readonly string[]): AsyncGenerator<string, void, void> {
  yield* all;
}
