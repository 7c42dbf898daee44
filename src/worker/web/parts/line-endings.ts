// Browsers' forms change line ends: they show and send one kind, whatever the file has. Edited text
// gets the file's own line ends back, so that a commit changes only lines that were edited.
import { diffLines } from "../../../base/lines/line-diff.ts";

/** A line end: LF, CR LF, or CR alone, as old systems wrote it. */
const LINE_END = /\r\n|\r|\n/g;

type LineEnd = "\n" | "\r\n" | "\r";

const encoder = new TextEncoder();

/** Lists the line ends in a text, most frequent first. */
export function lineEndsOf(text: string): LineEnd[] {
  const counts = new Map<LineEnd, number>();
  for (const [end] of text.matchAll(LINE_END)) counts.set(end as LineEnd, (counts.get(end as LineEnd) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([end]) => end);
}

/** Restores the file's line ends in an edited text: each line keeps its own, as does its
 * replacement, and an added line gets the most frequent one. A file that ends with a newline keeps
 * it.
 * @param before the file's text; null: the file is new, and gets LF, also at its end
 * @param typed as a form sent it, with any line ends */
export function keepLineEnds(before: string | null, typed: string): string {
  const next = typed.replace(LINE_END, "\n");
  const hasEnd = before === null || before === "" || /[\r\n]$/.test(before);
  const whole = hasEnd && next !== "" && !next.endsWith("\n") ? `${next}\n` : next;
  const ends = before === null ? [] : lineEndsOf(before);
  const [usual = "\n"] = ends;
  if (before === null || ends.length <= 1) return usual === "\n" ? whole : whole.replaceAll("\n", usual);
  return keepEachEnd(before, whole, usual);
}

/** Restores the line ends of a file with several kinds.
 * @param next with LF */
function keepEachEnd(before: string, next: string, usual: LineEnd): string {
  const oldEnds = Array.from(before.matchAll(LINE_END), ([end]) => end as LineEnd);
  const changes = diffLines(encoder.encode(before.replace(LINE_END, "\n")), encoder.encode(next));
  const ends: LineEnd[] = [];
  /** For each line end, whether its line is unchanged. */
  const kept: boolean[] = [];
  let old = 0;
  for (const { oldStart, oldLines, nextLines } of changes) {
    for (; old < oldStart; old++) kept[ends.push(oldEnds[old] ?? usual) - 1] = true;
    for (let i = 0; i < nextLines; i++) ends.push((i < oldLines ? oldEnds[old + i] : undefined) ?? usual);
    old = oldStart + oldLines;
  }
  for (; old < oldEnds.length; old++) kept[ends.push(oldEnds[old]!) - 1] = true;
  return joinLines(next.split("\n"), ends, kept, usual);
}

/** Joins lines with their ends. A CR, an empty line and its LF would read as one CR LF. So the end
 * of a changed empty line becomes CR, and the end before an unchanged one becomes CR LF. */
function joinLines(
  lines: readonly string[],
  ends: readonly LineEnd[],
  kept: readonly boolean[],
  usual: LineEnd,
): string {
  let text = "";
  let before: LineEnd | null = null;
  for (const [i, line] of lines.slice(0, -1).entries()) {
    let end = ends[i] ?? usual;
    if (before === "\r" && line === "" && end === "\n") {
      if (kept[i] === true) text += "\n";
      else end = "\r";
    }
    text += line + end;
    before = end;
  }
  return text + lines.at(-1)!;
}
