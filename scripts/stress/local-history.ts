/** The commits that clients push. All push from one local repository, by ids, not by branches. */
import { rmSync } from "node:fs";
import { COMMITTER } from "../../test/harness/fast-import.ts";
import { git, gitBytes, tryGit } from "../../test/harness/git.ts";
import type { Random } from "../../test/harness/random.ts";
import { makeNoise, noiseText } from "../bench/work/subjects.ts";

/** Commits and their content in git itself. */
export class LocalHistory {
  /** Bare. */
  readonly dir: string;
  /** The first commit. */
  readonly root: string;
  readonly #paths: readonly string[];
  #commits = 0;

  private constructor(dir: string, root: string, paths: readonly string[]) {
    this.dir = dir;
    this.root = root;
    this.#paths = paths;
  }

  /** Makes a commit of files of 8 KB of noise each. */
  static async make(files: number): Promise<LocalHistory> {
    const { dir } = await makeNoise(files);
    const root = await git(dir, "rev-parse", "refs/heads/main");
    return new LocalHistory(dir, root, (await git(dir, "ls-tree", "-r", "--name-only", root)).split("\n"));
  }

  /** Removes the repository. */
  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** One of the files of the first commit, which all other commits have, too. */
  pickPath(random: Random): string {
    return random.pick(this.#paths);
  }

  /** Makes a commit that changes some files of its parent.
   * @param count how many files; at most all
   * @returns its id, which is unique */
  async change(parent: string, count: number, random: Random): Promise<string> {
    const number = ++this.#commits;
    const message = `Change ${number}\n`;
    const stream = [
      `commit refs/made/${number}\nmark :1\n${COMMITTER} ${1_700_000_000 + 60 * number} +0000\n`,
      `data ${message.length}\n${message}from ${parent}\n`,
    ];
    for (const path of random.shuffled(this.#paths).slice(0, count)) {
      const text = noiseText(`${number} ${path}`);
      stream.push(`M 100644 inline ${path}\ndata ${text.length}\n${text}\n`);
    }
    stream.push("\nget-mark :1\n");
    return (await gitBytes(this.dir, ["fast-import", "--quiet"], { stdin: stream.join("") })).toString().trim();
  }

  /** Whether the repository has an object. */
  async has(oid: string): Promise<boolean> {
    return (await tryGit(this.dir, ["cat-file", "-e", oid])).code === 0;
  }

  /** The text that a git command prints. */
  tell(...args: readonly string[]): Promise<string> {
    return git(this.dir, ...args);
  }

  /** The bytes that a git command prints. */
  tellBytes(...args: readonly string[]): Promise<Buffer> {
    return gitBytes(this.dir, args);
  }
}
