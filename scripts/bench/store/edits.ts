/** The files of a store at the beginning, and the changes that writers make. */
import { formatCommit, importStream } from "../../../test/harness/fast-import.ts";

/** How files are distributed, and who saves them. */
export interface Shape {
  readonly writers: number;
  readonly repositories: number;
  /** `main`, and branches that each add one commit to it. */
  readonly branches: number;
  /** Initial files of each repository. */
  readonly files: number;
}

/** Entries of each folder. */
const PER_FOLDER = 50;

/** Files that each branch besides `main` changes. */
const CHANGED_FILES = 10;

/** Lines of each writer in the shared file. A merge can combine changes that have some unchanged
 * lines between them. */
const PARAGRAPH_LINES = 5;

/** Writers with a paragraph in the shared file. */
const PARAGRAPHS = 100;

/** The file that all writers change when contention is measured. */
const SHARED_PATH = "shared.txt";

/** Makes a bare repository of many small files.
 * @returns its path */
export function makeStoreSource({ files, branches }: Pick<Shape, "files" | "branches">): Promise<string> {
  const fileOf = (file: number, text: string): [path: string, text: string] => [
    pathOf(file, files),
    `This is file ${file}\n${text}`,
  ];
  return importStream(function* () {
    const all = Array.from({ length: files }, (_, file) => fileOf(file, ""));
    yield formatCommit("main", 0, [...all, [SHARED_PATH, "-\n".repeat(PARAGRAPH_LINES * PARAGRAPHS)]]);
    for (let branch = 1; branch < branches; branch++) {
      const changed = Array.from({ length: Math.min(files, CHANGED_FILES) }, (_, index) =>
        fileOf((branch * CHANGED_FILES + index) % files, `as branch ${branch} has it\n`),
      );
      yield `reset refs/heads/${branchOf(branch)}\nfrom refs/heads/main\n\n`;
      yield formatCommit(branchOf(branch), branch, changed);
    }
  });
}

/** The name of a branch.
 * @param number 0 is `main` */
export function branchOf(number: number): string {
  return number === 0 ? "main" : `branch-${number}`;
}

/** The path of a file, chosen so that no folder has too many entries. */
export function pathOf(file: number, files: number): string {
  const parts = [`file-${file}.txt`];
  for (let at = Math.floor(file / PER_FOLDER), left = files / PER_FOLDER; left > 1; left /= PER_FOLDER) {
    parts.unshift(`folder-${at % PER_FOLDER}`);
    at = Math.floor(at / PER_FOLDER);
  }
  return parts.join("/");
}

/** One change of one file. */
export interface Edit {
  /** The subject of its commit and a line of the file. Different for every save of a run. */
  readonly subject: string;
  readonly path: string;
  /** Whether the new text depends on the old one. */
  readonly needsText: boolean;
  /** The new text of the file. */
  write(was: string): string;
}

/** The kinds of changes: make new files; change files all over the store, different ones for each
 * writer; each writer a line of its own in one file; all the same line. */
export const EDITS = {
  add: (number, _, { files }) => writeWhole(number, pathOf(files + number, files)),
  modify: (number, writer, { writers, files }) => {
    const share = Math.max(1, Math.floor(files / writers));
    return writeWhole(number, pathOf((((number * 104_729) % share) * writers + writer) % files, files));
  },
  "own line": (number, writer) => writeLine(number, writer),
  "same line": (number) => writeLine(number, 0),
} as const satisfies Record<string, (number: number, writer: number, shape: Shape) => Edit>;

function writeWhole(number: number, path: string): Edit {
  const subject = `Save ${number}`;
  const text = `${subject}\n${"a line of the note\n".repeat(1 + (number % 40))}`;
  return { subject, path, needsText: false, write: () => text };
}

/** Writes the line in the middle of a writer's paragraph. */
function writeLine(number: number, writer: number): Edit {
  const line = (writer % PARAGRAPHS) * PARAGRAPH_LINES + Math.floor(PARAGRAPH_LINES / 2);
  const subject = `Save ${number}`;
  const write = (was: string): string => was.split("\n").with(line, subject).join("\n");
  return { subject, path: SHARED_PATH, needsText: true, write };
}
