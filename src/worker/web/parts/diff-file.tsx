// One file of a comparison of two commits.
import { raw } from "hono/html";
import type { Child } from "hono/jsx";
import type { RepositoryName } from "../../../base/format/repository-name.ts";
import { formatMode, GITLINK_MODE } from "../../../base/format/tree.ts";
import type { FileRecord } from "../../../contract/diffs.ts";
import type { DiffRows } from "./diff-rows.ts";
import { isImage } from "./file-box.tsx";
import { visibleName } from "./text.ts";
import { pathUrl } from "./urls.ts";

/** The mode of a submodule's commit, which has no page here. */
const SUBMODULE = formatMode(GITLINK_MODE);

/** The commit on one side of a comparison. */
interface DiffSide {
  readonly place: RepositoryName;
  /** Full id, hex. */
  readonly commit: string;
}

/** The view of a comparison. */
export interface DiffFrame {
  /** Null: the old side is empty. */
  readonly old: DiffSide | null;
  readonly next: DiffSide;
  readonly isSplit: boolean;
  readonly ignoresBlanks: boolean;
  /** Number of files before the first one shown. */
  readonly start: number;
  /** Makes the URL of this view with other fields in its query; null removes a field. */
  readonly link: (fields: Readonly<Record<string, string | null>>) => string;
}

/** Numbers of added and removed lines. */
export function Counts({ additions, deletions }: { additions: number; deletions: number }) {
  return (
    <span class="counts">
      <span class="plus">
        +{additions.toLocaleString("en")}
        <span class="hush"> lines</span>
      </span>{" "}
      <span class="minus">
        −{deletions.toLocaleString("en")}
        <span class="hush"> lines</span>
      </span>
    </span>
  );
}

/** One changed file: its status, and the lines that are shown. */
export function FileChange({
  frame,
  file,
  index,
  rows,
  rest,
}: {
  frame: DiffFrame;
  file: FileRecord;
  index: number;
  rows: DiffRows | null;
  /** Links to lines that are not shown here; false: all are shown. */
  rest: Child;
}) {
  const { path, oldPath, status, additions, deletions } = file;
  return (
    <details class="box change" id={`F${index}`} open>
      <summary>
        <h4>
          {oldPath !== null && (
            <>
              <bdi>{visibleName(oldPath)}</bdi> →{" "}
            </>
          )}
          <bdi>{visibleName(path)}</bdi>
        </h4>
        {status !== "modified" && <span class="badge">{status}</span>}
        {additions !== null && <Counts additions={additions} deletions={deletions ?? 0} />}
      </summary>
      <FileFacts frame={frame} file={file} />
      {isImage(path) && <Pictures frame={frame} file={file} />}
      {rows === null ? (
        <p class="told">{reasonOf(file, frame)}</p>
      ) : (
        rows.count > 0 && <Lines name={visibleName(path)} rows={rows} isSplit={frame.isSplit} />
      )}
      {rest !== false && <p class="told">{rest}</p>}
    </details>
  );
}

/** Modes, and links to the file before and after. */
function FileFacts({ frame: { old, next }, file }: { frame: DiffFrame; file: FileRecord }) {
  const { path, oldPath, oldMode, mode, similarity } = file;
  const facts = [
    oldMode !== null && mode !== null && oldMode !== mode ? `mode ${oldMode} → ${mode}` : null,
    oldMode === null || mode === null ? `mode ${mode ?? oldMode}` : null,
    similarity === null ? null : `${similarity}% the same`,
  ];
  return (
    <div class="head">
      <span class="muted">{facts.filter((fact) => fact !== null).join(" · ")}</span>
      <span class="push row">
        {old !== null && oldMode !== null && oldMode !== SUBMODULE && (
          <a href={pathUrl(old.place, "blob", old.commit, oldPath ?? path)}>Before</a>
        )}
        {mode !== null && mode !== SUBMODULE && <a href={pathUrl(next.place, "blob", next.commit, path)}>After</a>}
      </span>
    </div>
  );
}

/** An image before and after the change, side by side. */
function Pictures({ frame: { old, next }, file }: { frame: DiffFrame; file: FileRecord }) {
  const { path, oldPath, oldMode, mode } = file;
  return (
    <div class="pictures">
      {old !== null && oldMode !== null && (
        <figure class="picture">
          <figcaption>Before</figcaption>
          <img src={pathUrl(old.place, "raw", old.commit, oldPath ?? path)} alt="The image before" loading="lazy" />
        </figure>
      )}
      {mode !== null && (
        <figure class="picture">
          <figcaption>After</figcaption>
          <img src={pathUrl(next.place, "raw", next.commit, path)} alt="The image after" loading="lazy" />
        </figure>
      )}
    </div>
  );
}

function Lines({ name, rows, isSplit }: { name: string; rows: DiffRows; isSplit: boolean }) {
  const columns = isSplit
    ? [
        ["number", "Old line"],
        ["line", "Old text"],
        ["number", "New line"],
        ["line", "New text"],
      ]
    : [
        ["number", "Old line"],
        ["number", "New line"],
        ["sign", "Change"],
        ["line", "Text"],
      ];
  return (
    <table class={isSplit ? "diff split" : "diff"}>
      <caption class="hush">Changed lines of {name}</caption>
      <colgroup>
        {columns.map(([kind]) => (
          <col class={kind} />
        ))}
      </colgroup>
      <thead class="hush">
        <tr>
          {columns.map(([, label]) => (
            <th scope="col">{label}</th>
          ))}
        </tr>
      </thead>
      {/* Safe: all lines are escaped, the rest is numbers. */}
      <tbody>{raw(rows.html)}</tbody>
    </table>
  );
}

/** Explains why a changed file has no lines to show. */
function reasonOf(
  { isBinary, patch, additions, status, oldOid, oid, similarity }: FileRecord,
  frame: DiffFrame,
): string {
  if (isBinary) return "A binary file, whose content is not shown.";
  if (patch === null) return additions === null ? "Too large to be compared." : "Too many changes to be shown here.";
  if (oldOid === oid) return similarity === null ? "Only the mode changed." : "The content is the same.";
  if (status === "added" || status === "deleted") return "An empty file.";
  return frame.ignoresBlanks ? "Only blanks changed." : "There is nothing to show.";
}
