import { fastImport } from "./fast-import.ts";
import { git, makeRepository } from "./git.ts";

/** The shape of a generated history. */
export interface HistoryShape {
  /** The same seed and shape give the same object ids on every machine; default: 1. */
  readonly seed?: number;
  /** Commits on `main`, at least 1. */
  readonly commits: number;
  /** Files created by the first commit; every later one edits up to three of them. */
  readonly files: number;
  /** Branches `side-0`, `side-1`, …, with two commits each, which leave `main` at even
   * distances. */
  readonly branches?: number;
  /** How many of these branches are merged into `main`, at most `branches`. */
  readonly merges?: number;
  /** How many commits of `main` also, in turn, rename files and directories, replace files by
   * directories and back, and revert. */
  readonly upheavals?: number;
  /** Tags `v0`, `v1`, … on commits of `main`, alternately annotated and lightweight. */
  readonly tags?: number;
}

/** Creates a bare repository with a history of text files, using `git fast-import`.
 * @returns its path
 * @see git-fast-import(1) */
export async function makeHistory(shape: HistoryShape): Promise<string> {
  const dir = await makeRepository("history.git", "--bare");
  await fastImport(dir, new History(shape).write());
  await git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
  return dir;
}

/** Mulberry32: small, fast, and the same everywhere. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Generates the fast-import stream of one history. */
class History {
  readonly #shape: HistoryShape;
  readonly #random: (below: number) => number;
  readonly #files: string[][];
  /** Each file's path, and its original content. */
  readonly #paths: string[];
  readonly #firstFiles: readonly string[][];
  readonly #stream: string[] = [];
  #mark = 0;

  constructor(shape: HistoryShape) {
    this.#shape = shape;
    this.#random = makeRandom(shape.seed ?? 1);
    this.#files = Array.from({ length: shape.files }, () =>
      Array.from({ length: 5 + this.#random(60) }, () => this.#makeLine()),
    );
    this.#paths = this.#files.map((_, number) => `dir-${number % 17}/dir-${number % 5}/file-${number}.txt`);
    this.#firstFiles = this.#files.map((lines) => [...lines]);
  }

  write(): string {
    const { commits, branches = 0, merges = 0, tags = 0, upheavals = 0 } = this.#shape;
    let tip = this.#writeCommit("main", [], [...this.#files.keys()]);
    const branchEvery = Math.max(1, Math.floor(commits / (branches + 1)));
    const tagEvery = Math.max(1, Math.floor(commits / (tags + 1)));
    const upheavalEvery = Math.max(1, Math.floor(commits / (upheavals + 1)));
    let branch = 0;
    let upheaval = 0;
    let tag = 0;
    for (let count = 1; count < commits; count++) {
      const parents = [tip];
      if (branch < branches && count % branchEvery === 0) {
        const side = this.#writeBranch(`side-${branch}`, tip);
        if (branch++ < merges) parents.push(side);
      }
      const isUpheaval = upheaval < upheavals && count % upheavalEvery === 0;
      tip = this.#writeCommit("main", parents, this.#editFiles(), isUpheaval ? this.#upset(upheaval++) : "");
      if (tag < tags && count % tagEvery === 0) this.#writeTag(tag++, tip);
    }
    while (branch < branches) this.#writeBranch(`side-${branch++}`, tip);
    while (tag < tags) this.#writeTag(tag++, tip);
    return this.#stream.join("");
  }

  #makeLine(): string {
    return Array.from({ length: 2 + this.#random(6) }, () => this.#random(0x100000).toString(36)).join(" ");
  }

  #editFiles(): number[] {
    const numbers = [...new Set(Array.from({ length: 1 + this.#random(3) }, () => this.#random(this.#files.length)))];
    for (const number of numbers) {
      const lines = this.#files[number] ?? [];
      lines.splice(this.#random(lines.length), this.#random(3), this.#makeLine());
    }
    return numbers;
  }

  /** Moves a file or directory, replaces a file by a directory or the reverse, or restores a file's
   * original content. */
  #upset(upheaval: number): string {
    const number = this.#random(this.#files.length);
    const path = this.#paths[number]!;
    switch (upheaval % 5) {
      case 0:
        return this.#move(path, `moved-${number % 3}/file-${upheaval}.txt`);
      case 1:
        return this.#move(path.slice(0, path.lastIndexOf("/")), `folder-${upheaval}/inside`);
      case 2:
        return this.#move(path, `aside-${upheaval}`) + this.#move(`aside-${upheaval}`, `${path}/now-inside.txt`);
      case 3: {
        const inside = this.#paths.findIndex((other) => other.endsWith("/now-inside.txt"));
        const from = this.#paths[inside];
        if (from === undefined) return "";
        const folder = from.slice(0, from.lastIndexOf("/"));
        return this.#move(from, `aside-${upheaval}`) + this.#move(`aside-${upheaval}`, folder);
      }
      default: {
        this.#files[number] = [...this.#firstFiles[number]!];
        return this.#writeFile(number);
      }
    }
  }

  #move(from: string, to: string): string {
    this.#paths.forEach((path, number) => {
      if (path === from || path.startsWith(`${from}/`)) this.#paths[number] = to + path.slice(from.length);
    });
    return `R ${from} ${to}\n`;
  }

  #writeBranch(name: string, from: number): number {
    return this.#writeCommit(name, [this.#writeCommit(name, [from], this.#editFiles())], this.#editFiles());
  }

  /** @param moves fast-import commands that precede the edits of files `numbers` and determine
   * their paths */
  #writeCommit(branch: string, [parent, merged]: readonly number[], numbers: readonly number[], moves = ""): number {
    const mark = ++this.#mark;
    const message = `Commit ${mark}: ${this.#makeLine()}\n`;
    this.#stream.push(`commit refs/heads/${branch}\nmark :${mark}\n${this.#writePerson("committer")}${quote(message)}`);
    if (parent !== undefined) this.#stream.push(`from :${parent}\n`);
    if (merged !== undefined) this.#stream.push(`merge :${merged}\n`);
    this.#stream.push(moves);
    for (const number of numbers) this.#stream.push(this.#writeFile(number));
    this.#stream.push("\n");
    return mark;
  }

  #writeFile(number: number): string {
    return `M 100644 inline ${this.#paths[number]}\n${quote(`${(this.#files[number] ?? []).join("\n")}\n`)}`;
  }

  #writeTag(number: number, mark: number): void {
    this.#stream.push(
      number % 2 === 0
        ? `tag v${number}\nfrom :${mark}\n${this.#writePerson("tagger")}${quote(`Version ${number}\n`)}`
        : `reset refs/tags/v${number}\nfrom :${mark}\n\n`,
    );
  }

  #writePerson(role: string): string {
    return `${role} Ada Example <ada@example.com> ${1_700_000_000 + this.#mark * 60} +0100\n`;
  }
}

function quote(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
