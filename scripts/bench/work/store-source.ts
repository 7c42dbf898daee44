/** What a store of files holds before anybody saves. */
import { formatCommit, importStream } from "./subjects.ts";

/** Size of a store. */
export interface StoreSize {
  readonly files: number;
  /** Entries of each folder. */
  readonly perFolder: number;
  /** `main`, and others that leave it with one commit each. */
  readonly branches: number;
}

/** Files that each branch besides `main` has of its own. */
const CHANGED_FILES = 10;

/** Lines of each writer in the shared file: merges keep changes apart between which some lines stay as they were. */
const PARAGRAPH_LINES = 5;

/** Writers with a paragraph in the shared file. */
const PARAGRAPHS = 100;

/** A file that all writers change where it comes to contention. */
export const SHARED_PATH = "shared.txt";

/** Makes a bare repository of many small files.
 * @returns its path */
export function makeStoreSource({ files, perFolder, branches }: StoreSize): Promise<string> {
  const fileOf = (file: number, text: string): [path: string, text: string] => [
    pathOf(file, files, perFolder),
    `This is file ${file}\n${text}`,
  ];
  return importStream(function* () {
    const shared = `${"-\n".repeat(PARAGRAPH_LINES * PARAGRAPHS)}`;
    yield formatCommit("main", 0, [
      ...Array.from({ length: files }, (_, file) => fileOf(file, "")),
      [SHARED_PATH, shared],
    ]);
    for (let branch = 1; branch < branches; branch++) {
      const changed = Array.from({ length: Math.min(files, CHANGED_FILES) }, (_, index) =>
        fileOf((branch * CHANGED_FILES + index) % files, `as branch ${branch} has it\n`),
      );
      yield `reset refs/heads/${branchOf(branch)}\nfrom refs/heads/main\n\n`;
      yield formatCommit(branchOf(branch), branch, changed);
    }
  });
}

/** The name of a branch. @param number 0 is `main` */
export function branchOf(number: number): string {
  return number === 0 ? "main" : `branch-${number}`;
}

/** Where a file lies, so that no folder has more entries than wanted. */
export function pathOf(file: number, files: number, perFolder: number): string {
  const parts = [`file-${file}.txt`];
  for (let at = Math.floor(file / perFolder), left = files / perFolder; left > 1; left /= perFolder) {
    parts.unshift(`folder-${at % perFolder}`);
    at = Math.floor(at / perFolder);
  }
  return parts.join("/");
}

/** The line of the shared file which is in the middle of a writer's paragraph, counted from 0. */
export function sharedLineOf(writer: number): number {
  return (writer % PARAGRAPHS) * PARAGRAPH_LINES + Math.floor(PARAGRAPH_LINES / 2);
}
