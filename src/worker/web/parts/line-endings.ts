// Forms of browsers change the ends of lines: whatever a file has, a form shows and sends one kind.
// What is typed gets the file's own back, so that a commit changes only lines that were edited.
import { diffLines } from "../../../base/lines/line-diff.ts";

/** The end of a line: LF, CR LF, or CR alone, as old systems wrote it. */
const LINE_END = /\r\n|\r|\n/g;

type LineEnd = "\n" | "\r\n" | "\r";

const encoder = new TextEncoder();

/** The ends of lines in a text, most frequent first. */
export function lineEndsOf(text: string): LineEnd[] {
  const counts = new Map<LineEnd, number>();
  for (const [end] of text.matchAll(LINE_END)) counts.set(end as LineEnd, (counts.get(end as LineEnd) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([end]) => end);
}

/** Gives an edited text the ends of lines that the file has: each line its own, also where another
 * takes its place, and a further one the most frequent. A file that ends with a newline keeps it.
 * @param before the file's text; null: it is new, and gets LF, at its end, too
 * @param typed as a form sent it, with any ends of lines */
export function keepLineEnds(before: string | null, typed: string): string {
  const next = typed.replace(LINE_END, "\n");
  const hasEnd = before === null || before === "" || /[\r\n]$/.test(before);
  const whole = hasEnd && next !== "" && !next.endsWith("\n") ? `${next}\n` : next;
  const ends = before === null ? [] : lineEndsOf(before);
  const [usual = "\n"] = ends;
  if (before === null || ends.length <= 1) return usual === "\n" ? whole : whole.replaceAll("\n", usual);
  return keepEachEnd(before, whole, usual);
}

/** For a file with several kinds.
 * @param next with LF */
function keepEachEnd(before: string, next: string, usual: LineEnd): string {
  const oldEnds = Array.from(before.matchAll(LINE_END), ([end]) => end as LineEnd);
  const changes = diffLines(encoder.encode(before.replace(LINE_END, "\n")), encoder.encode(next));
  const ends: LineEnd[] = [];
  /** By the index of an end: whether its line has it already. */
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

/** Joins lines with their ends. A CR, an empty line and its LF would be one end: there the end of
 * the line that was changed is CR, or CR LF before a line that was not. */
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
