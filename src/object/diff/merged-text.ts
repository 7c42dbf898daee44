import { CR } from "../../base/format/byte-string.ts";
import { ByteWriter } from "./byte-writer.ts";
import { endsInNewline, linesBytes, type TextLines } from "../../base/lines/text-lines.ts";

/** Lines from `start` to before `end`, counted from 0. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** The texts of a merge as lines. */
export interface MergeTexts {
  readonly base: TextLines;
  readonly ours: TextLines;
  readonly theirs: TextLines;
}

/** A part of a merge in which at least one side differs from the base. */
export interface MergeRegion {
  /** Whose lines are taken. `same`: both sides turned out to be equal. */
  readonly kind: "ours" | "theirs" | "conflict" | "same";
  readonly base: LineRange;
  readonly ours: LineRange;
  readonly theirs: LineRange;
}

/** How a conflict is shown. */
export interface MergeStyle {
  /** The text after the markers, as byte strings: branches, with `:path` where the sides' paths
   * differ. */
  readonly labels: { readonly ours: string; readonly theirs: string; readonly base?: string };
  /** Whether the base's lines are shown too (`merge.conflictStyle=diff3`). Conflicts are not
   * narrowed then. */
  readonly showBase?: boolean;
  /** Whether a conflict has the lines of both sides, ours first, and no markers (`merge=union`). */
  readonly takeBoth?: boolean;
  /** Characters of a marker, 7 by default. */
  readonly markerLength?: number;
}

const MARKER_LENGTH = 7;

/** Writes the merged text: our lines, with the regions put in where they differ from ours. */
export function writeMergedText(
  texts: MergeTexts,
  regions: readonly MergeRegion[],
  { labels, showBase, takeBoth, markerLength = MARKER_LENGTH }: MergeStyle,
): Uint8Array {
  const into = new ByteWriter();
  let next = 0;
  for (const region of regions) {
    if (region.kind === "same") continue;
    into.write(linesBytes(texts.ours, next, region.ours.start));
    next = region.ours.end;
    if (region.kind === "ours") into.write(linesBytes(texts.ours, region.ours.start, region.ours.end));
    if (region.kind === "theirs") into.write(linesBytes(texts.theirs, region.theirs.start, region.theirs.end));
    if (region.kind !== "conflict") continue;

    const newline = endsInCrLf(texts, region) ? "\r\n" : "\n";
    const writeMarker = (sign: string, label = ""): void => {
      into.writeByteString(sign.repeat(markerLength) + (label === "" ? "" : ` ${label}`) + newline);
    };
    const writeSide = (lines: TextLines, { start, end }: LineRange): void => {
      into.write(linesBytes(lines, start, end));
      if (end > start && !endsInNewline(lines, end - 1)) into.writeByteString(newline);
    };
    if (takeBoth === true) {
      writeSide(texts.ours, region.ours);
      into.write(linesBytes(texts.theirs, region.theirs.start, region.theirs.end));
      continue;
    }
    writeMarker("<", labels.ours);
    writeSide(texts.ours, region.ours);
    if (showBase === true) {
      writeMarker("|", labels.base);
      writeSide(texts.base, region.base);
    }
    writeMarker("=");
    writeSide(texts.theirs, region.theirs);
    writeMarker(">", labels.theirs);
  }
  into.write(linesBytes(texts.ours, next, texts.ours.count));
  return into.finish();
}

/** Whether markers end in CR LF: the base's first line must, and the lines before the conflict must
 * not contradict it. */
function endsInCrLf({ base, ours, theirs }: MergeTexts, region: MergeRegion): boolean {
  return (
    lineEndsInCrLf(base, 0) === true &&
    lineEndsInCrLf(ours, Math.max(region.ours.start - 1, 0)) !== false &&
    lineEndsInCrLf(theirs, Math.max(region.theirs.start - 1, 0)) !== false
  );
}

/** Whether a line ends in CR LF. For a last line without a line end, whether the line before it
 * does.
 * @returns undefined if there is no line to judge by */
function lineEndsInCrLf(lines: TextLines, line: number): boolean | undefined {
  const ended = line < lines.count && endsInNewline(lines, line) ? line : line - 1;
  if (ended < 0) return undefined;
  const end = lines.starts[ended + 1]!;
  return end - lines.starts[ended]! > 1 && lines.bytes[end - 2] === CR;
}
