// The rows of a blame, written as text: a JSX element for each would take ten times as long.
import type { CommitRecord } from "../../../contract/commits.ts";
import type { BlameRange, BlameResult } from "../../../contract/history.ts";
import { escapeText } from "./code.tsx";
import type { Highlighter } from "./highlight.ts";
import { subjectOf, visibleLine } from "./text.ts";
import { inWords, showDate } from "./times.tsx";
import { commitUrl, pathUrl } from "./urls.ts";
import type { PagePlace } from "./web-env.ts";

/** Number of age classes, the newest first. */
const AGES = 6;

/** Number of rows that are sent together. */
const ROWS_PER_PIECE = 200;

/** A file's lines and their blame. */
interface Blamed {
  readonly place: PagePlace;
  /** With hidden characters written out. */
  readonly lines: readonly string[];
  readonly highlighter: Highlighter;
  readonly blame: BlameResult;
  readonly nowMs: number;
}

/** Writes a row for each range of lines: their commit, numbers and text.
 * @returns HTML of the table's body in pieces */
export function* blameRows({ place, lines, highlighter, blame, nowMs }: Blamed): Generator<string, void, void> {
  const commits = new Map(blame.commits.map((commit) => [commit.oid, commit]));
  const ages = agesOf(blame.commits);
  const origins = new Map<string, string>();
  let rows: string[] = [];
  for (const range of blame.ranges) {
    const key = `${range.commit} ${range.originalPath}`;
    let origin = origins.get(key);
    if (origin === undefined) {
      const commit = range.commit === null ? null : commits.get(range.commit)!;
      origin = commit === null ? NOT_FOUND : writeOrigin(place, commit, range, ages.get(commit.oid)!, nowMs);
      origins.set(key, origin);
    }
    rows.push(`<tr>${origin}${writeLines(range, lines, highlighter)}</tr>`);
    if (rows.length < ROWS_PER_PIECE) continue;
    yield rows.join("");
    rows = [];
  }
  yield rows.join("");
}

const NOT_FOUND = `<th scope="row"><div class="muted">not found in time</div></th>`;

/** Writes the cell of a commit. */
function writeOrigin(
  place: PagePlace,
  commit: CommitRecord,
  { originalPath }: BlameRange,
  age: number,
  nowMs: number,
): string {
  const { oid, message, parents, author, committer } = commit;
  const subject = escapeText(subjectOf(message)) || "(no message)";
  const time = inWords(Date.parse(committer.date), nowMs);
  const name = escapeText(visibleLine(author.name));
  const before =
    parents.length === 0
      ? ""
      : ` <a href="${pathUrl(place, "blame", oid, originalPath)}?before=1" title="Blame before this change">before<span class="hush"> this change: ${subject}</span></a>`;
  return (
    `<th scope="row" class="age-${age}"><div>` +
    `<a class="cut" href="${commitUrl(place, oid)}"><bdi>${subject}</bdi></a>` +
    `<span class="cut muted"><bdi>${name}</bdi></span>` +
    `<time class="muted" datetime="${committer.date}" title="${showDate(committer.date)}">${time}</time>${before}` +
    `</div></th>`
  );
}

/** Writes the cells of lines: their numbers, each a link to its line, and their text. */
function writeLines({ start, count }: BlameRange, lines: readonly string[], highlighter: Highlighter): string {
  const numbers: string[] = [];
  const texts: string[] = [];
  for (let line = start; line < start + count; line++) {
    numbers.push(`<a id="L${line}" href="#L${line}" tabindex="-1">${line}</a>`);
    texts.push(highlighter.line(lines[line - 1] ?? ""));
  }
  return (
    `<td aria-hidden="true"><pre class="numbers">${numbers.join("\n")}</pre></td>` +
    `<td><pre class="lines"><code>${texts.join("\n")}\n</code></pre></td>`
  );
}

/** Assigns each commit an age class: 0 for the newest, up to `AGES` - 1. The classes have equal
 * numbers of commits, so that a burst of changes does not hide all differences. */
function agesOf(commits: readonly CommitRecord[]): ReadonlyMap<string, number> {
  return new Map(commits.map(({ oid }, i) => [oid, Math.floor((i * AGES) / commits.length)]));
}
