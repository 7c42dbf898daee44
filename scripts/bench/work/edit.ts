/** What writers change. */
import { pathOf, SHARED_PATH, sharedLineOf } from "./store-source.ts";

/** One change of one file. Its commit's subject, and a line of the file, is `Save <number>`. */
export interface Edit {
  /** Different for every save of a run. */
  readonly number: number;
  readonly path: string;
  /** The place that it writes: saves of one place of a branch follow one another. */
  readonly slot: string;
  /** Whether what it writes depends on what was there. */
  readonly needsText: boolean;
  /** What the file holds afterwards. */
  write(was: string): string;
}

/** Where an edit comes in its loop. */
export interface EditPlace {
  readonly number: number;
  readonly writer: number;
  readonly writers: number;
  /** Of the store, at the beginning. */
  readonly files: number;
  readonly perFolder: number;
}

/** What every save's subject begins with. */
export const SUBJECT = "Save ";

/** The subject of a save's commit, and the line by which its file shows it. */
export function subjectOf(number: number): string {
  return SUBJECT + number;
}

/** What the writers of a loop do: make new files; change files all over the store, each writer others; each a line of its own in one file;
 * all the same line. */
export const EDITS = {
  add: ({ number, files, perFolder }) => writeWhole(number, pathOf(files + number, files, perFolder)),
  modify: ({ number, writer, writers, files, perFolder }) => {
    const share = Math.max(1, Math.floor(files / writers));
    const file = (((number * 104_729) % share) * writers + writer) % files;
    return writeWhole(number, pathOf(file, files, perFolder));
  },
  "own line": ({ number, writer }) => writeLine(number, sharedLineOf(writer)),
  "same line": ({ number }) => writeLine(number, sharedLineOf(0)),
} as const satisfies Record<string, (place: EditPlace) => Edit>;

/** A name of `EDITS`. */
export type EditKind = keyof typeof EDITS;

function writeWhole(number: number, path: string): Edit {
  const text = `${subjectOf(number)}\n${"a line of the note\n".repeat(1 + (number % 40))}`;
  return { number, path, slot: path, needsText: false, write: () => text };
}

function writeLine(number: number, line: number): Edit {
  return {
    number,
    path: SHARED_PATH,
    slot: `${SHARED_PATH}, line ${line}`,
    needsText: true,
    write: (was) => was.split("\n").with(line, subjectOf(number)).join("\n"),
  };
}
