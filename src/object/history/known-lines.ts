import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { BlamedLines } from "./blamed-lines.ts";

/** What is known of lines: the commit that introduced them, or how far back they were traced. */
export interface TracedLines extends BlamedLines {
  /** Object number. */
  readonly commit: ObjectNumber;
  /** Byte string: the file's path in the commit. */
  readonly path: string;
  readonly isOpen: boolean;
}

/** Words of a row: count, start, commit, and index of the path with a bit for `isOpen`. */
const STRIDE = 4;

/** What is known of consecutive lines of a file, in their order, in sixteen bytes for each group: a
 * file of half a million lines may have as many groups, and what one try has found must not be too
 * large to be kept for the next. */
export class KnownLines {
  /** How many lines were not traced to their origin. */
  readonly openCount: number;
  readonly #first: number;
  readonly #rows: Uint32Array;
  readonly #paths: readonly string[];

  /** @param lines without gaps */
  constructor(lines: readonly TracedLines[]) {
    const paths = new Map<string, number>();
    this.#first = lines[0]?.line ?? 0;
    this.#rows = new Uint32Array(STRIDE * lines.length);
    let openCount = 0;
    for (const [i, { count, start, commit, path, isOpen }] of lines.entries()) {
      if (!paths.has(path)) paths.set(path, paths.size);
      this.#rows.set([count, start, commit, 2 * paths.get(path)! + Number(isOpen)], STRIDE * i);
      if (isOpen) openCount += count;
    }
    this.#paths = [...paths.keys()];
    this.openCount = openCount;
  }

  get sizeBytes(): number {
    return this.#rows.byteLength + this.#paths.reduce((sum, path) => sum + 2 * path.length, 0);
  }

  toArray(): TracedLines[] {
    const lines: TracedLines[] = [];
    let line = this.#first;
    for (let at = 0; at < this.#rows.length; at += STRIDE) {
      const count = this.#rows[at]!;
      const origin = this.#rows[at + 3]!;
      const path = this.#paths[origin >>> 1]!;
      lines.push({
        line,
        start: this.#rows[at + 1]!,
        count,
        commit: this.#rows[at + 2]!,
        path,
        isOpen: (origin & 1) === 1,
      });
      line += count;
    }
    return lines;
  }
}
