// The lines of a file's patch as rows of a table. Written as text: a page has thousands.
import { escapeText } from "./code.tsx";
import { visibleText } from "./text.ts";

/** Rows of a table, HTML. */
export interface DiffRows {
  readonly html: string;
  /** Number of the patch's lines in the rows. */
  readonly count: number;
  /** Whether the patch has more lines. */
  readonly isCut: boolean;
}

/** A line of a patch. */
interface Line {
  readonly kind: "same" | "removed" | "added" | "hunk" | "note";
  /** Numbers of the line on both sides, from 1; 0: absent there. */
  readonly old: number;
  readonly next: number;
  /** With hidden characters written out, not escaped. */
  readonly text: string;
}

/** Maximum length of a line in which differences are marked. */
const MAX_MARKED = 2_000;

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** Makes rows with both sides one below the other: two numbers, a sign, the line.
 * @param patch of one file, as git prints it
 * @param id prefix of the lines' ids: `L` and the number follow for the old side, `R` for the new
 * @param limit maximum number of the patch's lines */
export function unifiedRows(patch: string, id: string, limit: number): DiffRows {
  const rows: string[] = [];
  const { lines, isCut } = readLines(patch, limit);
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    if (line.kind !== "removed" && line.kind !== "added") {
      rows.push(line.kind === "same" ? row(line, id, escapeText(line.text)) : wideRow(line, 4));
      i += 1;
      continue;
    }
    const { removed, added, end } = changedRun(lines, i);
    const marked = markPairs(removed, added);
    for (const [n, one] of removed.entries()) rows.push(row(one, id, marked[0][n]!));
    for (const [n, one] of added.entries()) rows.push(row(one, id, marked[1][n]!));
    i = end;
  }
  return { html: rows.join(""), count: lines.length, isCut };
}

/** Makes rows with the sides beside each other: number and line of the old side, then of the new.
 * @see unifiedRows */
export function splitRows(patch: string, id: string, limit: number): DiffRows {
  const rows: string[] = [];
  const { lines, isCut } = readLines(patch, limit);
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    if (line.kind === "same") {
      const text = escapeText(line.text);
      rows.push(`<tr>${side(line.old, "", text)}${side(line.next, `${id}R`, text)}</tr>`);
      i += 1;
    } else if (line.kind === "hunk" || line.kind === "note") {
      rows.push(wideRow(line, 4));
      i += 1;
    } else {
      const { removed, added, end } = changedRun(lines, i);
      const [olds, nexts] = markPairs(removed, added);
      for (let n = 0; n < Math.max(removed.length, added.length); n++) {
        const old = n < removed.length ? side(removed[n]!.old, `${id}L`, olds[n]!, "del") : NO_SIDE;
        const next = n < added.length ? side(added[n]!.next, `${id}R`, nexts[n]!, "add") : NO_SIDE;
        rows.push(`<tr>${old}${next}</tr>`);
      }
      i = end;
    }
  }
  return { html: rows.join(""), count: lines.length, isCut };
}

const NO_SIDE = `<td></td><td class="none"></td>`;

function side(number: number, id: string, html: string, kind = ""): string {
  const cell = id === "" ? `${number}` : anchor(id, number);
  const open = kind === "" ? "<td>" : `<td class="${kind}">`;
  return `${open}${cell}</td>${open}${html}</td>`;
}

function row({ kind, old, next }: Line, id: string, html: string): string {
  switch (kind) {
    case "removed":
      return `<tr class="del"><td>${anchor(`${id}L`, old)}</td><td></td><td>−</td><td>${html}</td></tr>`;
    case "added":
      return `<tr class="add"><td></td><td>${anchor(`${id}R`, next)}</td><td>+</td><td>${html}</td></tr>`;
    default:
      return `<tr><td>${old}</td><td>${anchor(`${id}R`, next)}</td><td></td><td>${html}</td></tr>`;
  }
}

function wideRow({ kind, text }: Line, columns: number): string {
  return `<tr class="${kind}"><td colspan="${columns}">${escapeText(text)}</td></tr>`;
}

/** @param id of letters and digits */
function anchor(id: string, number: number): string {
  return `<a id="${id}${number}" href="#${id}${number}" tabindex="-1">${number}</a>`;
}

/** Collects removed lines, and the added lines that follow them. */
function changedRun(lines: readonly Line[], start: number): { removed: Line[]; added: Line[]; end: number } {
  let middle = start;
  while (lines[middle]?.kind === "removed") middle++;
  let end = middle;
  while (lines[end]?.kind === "added") end++;
  return { removed: lines.slice(start, middle), added: lines.slice(middle, end), end };
}

/** Renders lines as HTML. If as many are added as removed, the part of each that differs is
 * marked. */
function markPairs(removed: readonly Line[], added: readonly Line[]): [old: string[], next: string[]] {
  const plain = (line: Line) => escapeText(line.text);
  if (removed.length !== added.length) return [removed.map(plain), added.map(plain)];
  const pairs = removed.map(({ text }, i) => markDifference(text, added[i]!.text));
  return [pairs.map(([old]) => old), pairs.map(([, next]) => next)];
}

function markDifference(old: string, next: string): [old: string, next: string] {
  const shorter = Math.min(old.length, next.length);
  let start = 0;
  while (start < shorter && old[start] === next[start]) start++;
  let tail = 0;
  while (tail < shorter - start && old.at(-1 - tail) === next.at(-1 - tail)) tail++;
  // The two code units of one character stay together.
  if (start > 0 && isHighSurrogate(old.charCodeAt(start - 1))) start--;
  if (tail > 0 && isHighSurrogate(old.charCodeAt(old.length - tail - 1))) tail--;
  // Lines with little in common are not marked: all of the line differs.
  const isAlike = 2 * (start + tail) >= shorter && start + tail > 0;
  if (!isAlike || old.length > MAX_MARKED || next.length > MAX_MARKED) return [escapeText(old), escapeText(next)];
  const mark = (text: string): string => {
    const [before, middle, after] = [
      text.slice(0, start),
      text.slice(start, text.length - tail),
      text.slice(text.length - tail),
    ];
    const marked = middle === "" ? "" : `<mark>${escapeText(middle)}</mark>`;
    return escapeText(before) + marked + escapeText(after);
  };
  return [mark(old), mark(next)];
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function readLines(patch: string, limit: number): { lines: Line[]; isCut: boolean } {
  const lines: Line[] = [];
  let [old, next] = [0, 0];
  let isInHunk = false;
  for (let at = 0; at < patch.length;) {
    const newline = patch.indexOf("\n", at);
    const end = newline < 0 ? patch.length : newline;
    const sign = patch[at];
    const line = patch.slice(at, end);
    at = end + 1;
    const hunk = sign === "@" ? HUNK.exec(line) : null;
    // A file whose type changed has two patches: the second begins with its own header.
    if (hunk === null && (!isInHunk || sign === "d")) {
      isInHunk = false;
      continue;
    }
    if (lines.length >= limit) return { lines, isCut: true };
    if (hunk !== null) {
      isInHunk = true;
      [old, next] = [Number(hunk[1]), Number(hunk[2])];
      lines.push({ kind: "hunk", old: 0, next: 0, text: visibleText(line) });
    } else if (sign === "-") lines.push({ kind: "removed", old: old++, next: 0, text: visibleText(line.slice(1)) });
    else if (sign === "+") lines.push({ kind: "added", old: 0, next: next++, text: visibleText(line.slice(1)) });
    else if (sign === "\\") lines.push({ kind: "note", old: 0, next: 0, text: line.slice(2) });
    // A CR at the end of every line carries no information: it is shown only in changed lines.
    else lines.push({ kind: "same", old: old++, next: next++, text: visibleText(line.slice(1).replace(/\r$/, "")) });
  }
  return { lines, isCut: false };
}
