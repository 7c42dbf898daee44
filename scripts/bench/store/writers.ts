/** The files of a store, the changes that writers make, and the writers: they save with git, in a
 * clone of their own, or through `POST …/commits`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { askApi } from "../../../test/harness/api.ts";
import { formatCommit, importStream } from "../../../test/harness/fast-import.ts";
import { git, tryGit } from "../../../test/harness/git.ts";
import { makeTempDir } from "../../../test/harness/temp-dir.ts";
import { apiPathOf, askHoldfast } from "../hosts/hosts.ts";

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
interface Edit {
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

/** A writer of one branch of one repository. */
export interface Writer {
  /** Fetches the branch's current state. */
  catchUp(): Promise<void>;
  /** Saves, and retries until the edit is in the branch.
   * @throws Error if it is refused for another reason than a concurrent save */
  save(edit: Edit): Promise<Saved>;
}

/** The figures of one save. */
export interface Saved {
  /** The time of each step, in `… ms`, over all attempts. */
  readonly steps: Readonly<Record<string, number>>;
  /** How often saves of other writers were merged. */
  readonly merges: number;
  /** How often a merge had a conflict, so that the edit was made again. */
  readonly conflicts: number;
  /** How often another writer was faster, so that the save was retried. */
  readonly retries: number;
}

/** Attempts after which a save fails. */
const MAX_ATTEMPTS = 1000;

const AUTHOR = { name: "Ada Example", email: "ada@example.com" };

/** @returns runs a step, and adds its time to the time it took before */
function clockInto(steps: Record<string, number>) {
  return async <Result>(step: string, run: () => Promise<Result>): Promise<Result> => {
    const start = performance.now();
    try {
      return await run();
    } finally {
      steps[`${step} ms`] = (steps[`${step} ms`] ?? 0) + performance.now() - start;
    }
  };
}

function giveUp({ subject }: Edit, branch: string): Error {
  return new Error(`${subject}: not saved to ${branch} after ${MAX_ATTEMPTS} attempts`);
}

/** Clones a repository to save there. A save changes the file and runs `git add`, `git commit`,
 * `git pull` and `git push`; the last two are repeated while other writers are faster. */
export async function openGitWriter(url: string, branch: string): Promise<Writer> {
  const dir = join(makeTempDir("writer"), "clone");
  await git(".", "clone", "-q", "-b", branch, url, dir);
  const saveSteps = async (edit: Edit, steps: Record<string, number>): Promise<Omit<Saved, "steps">> => {
    const time = clockInto(steps);
    let [merges, conflicts, retries] = [0, 0, 0];
    const commit = async (): Promise<void> => {
      const path = join(dir, edit.path);
      const was = edit.needsText ? readFileSync(path, "utf8") : "";
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, edit.write(was));
      await time("add", () => git(dir, "add", edit.path));
      await time("commit", () => git(dir, "commit", "-q", "-m", edit.subject));
    };
    await commit();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const pulled = await time("pull", () => pull(dir));
      if (pulled === "conflict") {
        conflicts += 1;
        await git(dir, "reset", "-q", "--hard", `origin/${branch}`);
        await commit();
        continue;
      }
      if (pulled === "merged") merges += 1;
      if (await time("push", () => push(dir, branch))) return { merges, conflicts, retries };
      retries += 1;
    }
    throw giveUp(edit, branch);
  };
  return {
    catchUp: async () => void (await git(dir, "pull", "-q", "--ff-only")),
    async save(edit) {
      const steps = {};
      const saved = await clockInto(steps)("save", () => saveSteps(edit, steps));
      return { steps, ...saved };
    },
  };
}

async function pull(dir: string): Promise<"up to date" | "merged" | "conflict"> {
  const { code, stdout, stderr } = await tryGit(dir, ["pull", "--no-rebase", "--no-edit"]);
  if (code === 0) return stdout.includes("Merge made by") ? "merged" : "up to date";
  if (stdout.includes("CONFLICT")) return "conflict";
  throw new Error(`git pull ended with ${code}:\n${stdout}${stderr}`);
}

/** @returns whether the branch moved; it does not if another writer was faster */
async function push(dir: string, branch: string): Promise<boolean> {
  const { code, stderr } = await tryGit(dir, ["push", "-q", "origin", branch]);
  if (code === 0) return true;
  // `[rejected]` comes from the client, which sees that it is behind; `[remote rejected]` comes
  // from the server.
  if (/rejected\]/.test(stderr)) return false;
  throw new Error(`git push ended with ${code}:\n${stderr}`);
}

/** Opens a writer that sends with each save the commit it saw last, its own. The server then merges
 * what others have saved since. */
export function openApiWriter(url: string, branch: string): Writer {
  const server = { url: new URL(url).origin };
  const repository = apiPathOf(url);
  let base: string | undefined;
  const catchUp = async (): Promise<void> => {
    base = (await askHoldfast<{ commit: string }>(url, `${repository}/branches/${branch}`)).commit;
  };
  const read = async ({ path, needsText }: Edit): Promise<string> =>
    needsText ? askHoldfast(url, `${repository}/raw/${base}/${path}`) : "";
  return {
    catchUp,
    async save(edit) {
      const steps = {};
      const time = clockInto(steps);
      let was = await read(edit);
      for (let conflicts = 0; conflicts < MAX_ATTEMPTS; conflicts++) {
        const operations = [{ op: "put", path: edit.path, content: edit.write(was) }];
        const json = { branch, base, message: edit.subject, author: AUTHOR, operations };
        const { status, body } = await time("save", () =>
          askApi<Saving>(server, `${repository}/commits`, { method: "POST", json }),
        );
        if (status === 201) {
          base = body.commit;
          return { steps, merges: body.kind === "rebased" ? 1 : 0, conflicts, retries: conflicts };
        }
        if (status !== 409 || body.error?.code !== "conflict")
          throw new Error(`a save was answered with ${status}: ${JSON.stringify(body)}`);
        await time("save", async () => {
          await catchUp();
          was = await read(edit);
        });
      }
      throw giveUp(edit, branch);
    },
  };
}

/** The commit that a save made, or why there is none. */
interface Saving {
  readonly kind: string;
  readonly commit: string;
  readonly error?: { readonly code: string };
}
