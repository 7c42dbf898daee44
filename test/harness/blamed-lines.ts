/** The origins of a file's lines, in one form for git and for Holdfast: every line as "commit line
 * path". */

/** Holdfast's answer for lines of one origin; null: not found in time. */
interface Range {
  readonly count: number;
  readonly commit: string | null;
  readonly originalStart: number;
  readonly originalPath: string;
}

/** The lines of some ranges. */
export function spreadRanges(ranges: readonly Range[]): string[] {
  return ranges.flatMap(({ count, commit, originalStart, originalPath }) =>
    Array.from({ length: count }, (_, i) => `${commit} ${originalStart + i} ${originalPath}`),
  );
}

/** The lines in the output of `git blame --porcelain`.
 * @see git-blame(1), "The porcelain format" */
export function readPorcelain(text: string): string[] {
  const lines: string[] = [];
  const paths = new Map<string, string>();
  let [oid, number] = ["", ""];
  for (const line of text.split("\n")) {
    if (line.startsWith("\t")) lines.push(`${oid} ${number} ${paths.get(oid)}`);
    else if (line.startsWith("filename ")) paths.set(oid, line.slice("filename ".length));
    else if (/^[0-9a-f]{40} \d/.test(line)) [oid, number] = line.split(" ") as [string, string];
  }
  return lines;
}
