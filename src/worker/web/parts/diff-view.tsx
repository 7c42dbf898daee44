// The view of a comparison of two commits: a list of the changed files, then each with its lines.
import type { DiffPage, FileRecord, FileDiff } from "../../../contract/diffs.ts";
import { Counts, type DiffFrame, FileChange } from "./diff-file.tsx";
import { type DiffRows, splitRows, unifiedRows } from "./diff-rows.ts";
import { toHtml, visibleName } from "./text.ts";

/** Maximum number of lines of one file on a page of several, and of all files. */
const FILE_LINES = 1_000;
const PAGE_LINES = 10_000;

/** Renders a page of changed files as HTML, piece by piece. */
export function* drawDiff(frame: DiffFrame, page: DiffPage): Generator<string, void, void> {
  const { start, link } = frame;
  yield toHtml(<DiffSummary frame={frame} page={page} />);
  let linesLeft = PAGE_LINES;
  for (const [i, file] of page.files.entries()) {
    const rows = rowsOf(frame, file, start + i, Math.min(FILE_LINES, linesLeft));
    const shown = rows?.count ?? 0;
    linesLeft -= shown;
    const isCut = rows === null ? isTooLong(file) : rows.isCut;
    yield toHtml(
      <FileChange
        frame={frame}
        file={file}
        index={start + i}
        rows={rows}
        rest={
          isCut && (
            <>
              {shown === 0 ? "It has more changes than this page shows." : `These are the first ${shown} lines.`}{" "}
              <a href={link({ file: `${start + i}`, start: null })}>Show this file alone</a>
            </>
          )
        }
      />,
    );
  }
  yield toHtml(<DiffPager frame={frame} page={page} />);
}

/** Renders one changed file, or a part of it, as HTML. */
export function drawFileDiff(frame: DiffFrame, { file, total, nextLine, lineCount }: FileDiff): string {
  const { start, link } = frame;
  const rows = rowsOf(frame, file, start, Infinity);
  return toHtml(
    <>
      <div class="bar">
        <span>
          File {(start + 1).toLocaleString("en")} of {total.toLocaleString("en")}
        </span>
        <DiffSwitches frame={frame} />
        <a class="push" href={link({ file: null, line: null })}>
          All changes
        </a>
      </div>
      <h3 class="hush">Changed file</h3>
      <FileChange
        frame={frame}
        file={file}
        index={start}
        rows={rows}
        rest={
          nextLine !== null && (
            <a href={link({ line: `${nextLine}` })}>The next of {lineCount.toLocaleString("en")} lines</a>
          )
        }
      />
      <nav class="row" aria-label="Files">
        {start > 0 && (
          <a class="button" href={link({ file: `${start - 1}`, line: null })}>
            Previous file
          </a>
        )}
        {start + 1 < total && (
          <a class="button" href={link({ file: `${start + 1}`, line: null })}>
            Next file
          </a>
        )}
      </nav>
    </>,
  );
}

/** Whether a file's patch alone is larger than a page of several files. */
function isTooLong({ patch, additions }: FileRecord): boolean {
  return patch === null && additions !== null;
}

/** @returns null: there are no lines to show */
function rowsOf({ isSplit }: DiffFrame, { patch }: FileRecord, index: number, limit: number): DiffRows | null {
  if (patch === null) return null;
  const rows = (isSplit ? splitRows : unifiedRows)(patch, `F${index}`, limit);
  return rows.count === 0 && !rows.isCut ? null : rows;
}

/** Totals of the changes, and the files on this page. */
function DiffSummary({ frame, page }: { frame: DiffFrame; page: DiffPage }) {
  const { files, total, isTruncated, isRenameLimited } = page;
  const { start } = frame;
  const sum = (key: "additions" | "deletions"): number => files.reduce((all, file) => all + (file[key] ?? 0), 0);
  const isAll = files.length === total;
  const count = `${total.toLocaleString("en")} changed ${total === 1 ? "file" : "files"}`;
  return (
    <>
      <h3 class="hush">Changed files</h3>
      <div class="bar">
        <span>
          {isAll ? count : `Files ${start + 1} to ${start + files.length} of ${count}`}:{" "}
          <Counts additions={sum("additions")} deletions={sum("deletions")} />
        </span>
        <DiffSwitches frame={frame} />
      </div>
      {isTruncated && <p class="note">More files changed than are listed. None is looked for under a former name.</p>}
      {isRenameLimited && !isTruncated && (
        <p class="note">So many files came and went that not all were looked for under their former names.</p>
      )}
      {files.length > 1 && (
        <details class="box changes" open>
          <summary>Files</summary>
          <ul>
            {files.map(({ path, status, additions, deletions }, i) => (
              <li>
                <a href={`#F${start + i}`}>
                  <bdi>{visibleName(path)}</bdi>
                </a>{" "}
                {status !== "modified" && <span class="badge">{status}</span>}{" "}
                {additions !== null && <Counts additions={additions} deletions={deletions ?? 0} />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** Links to the other layouts of the lines. */
function DiffSwitches({ frame: { isSplit, ignoresBlanks, link } }: { frame: DiffFrame }) {
  return (
    <nav class="row switches" aria-label="View">
      <a href={link({ view: null })} aria-current={isSplit ? undefined : "true"}>
        Unified
      </a>
      <a href={link({ view: "split" })} aria-current={isSplit ? "true" : undefined}>
        Side by side
      </a>
      <a href={link({ w: ignoresBlanks ? null : "1" })}>{ignoresBlanks ? "Show changes of blanks" : "Ignore blanks"}</a>
    </nav>
  );
}

/** Links to the files that are not on this page. */
function DiffPager({ frame: { start, link }, page: { files, total, next } }: { frame: DiffFrame; page: DiffPage }) {
  if (start === 0 && next === null) return files.length === 0 ? <p>No file differs.</p> : null;
  return (
    <nav class="row" aria-label="Pages of files">
      {start > 0 && (
        <a class="button" href={link({ start: null })}>
          First files
        </a>
      )}
      {next !== null && (
        <a class="button" rel="next" href={link({ start: `${next}` })}>
          Next files ({(total - next).toLocaleString("en")} left)
        </a>
      )}
    </nav>
  );
}
