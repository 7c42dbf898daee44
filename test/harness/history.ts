import { git, makeRepository, tryGit } from "./git.ts";

/** The shape of a made-up history. */
export interface HistoryShape {
  /** The same seed and shape give the same object ids on every machine; 1 unless set. */
  readonly seed?: number;
  /** Commits on `main`, at least 1. */
  readonly commits: number;
  /** Files which the first commit makes; every later one edits up to three of them. */
  readonly files: number;
  /** Branches `side-0`, `side-1`, …, of two commits each, which leave `main` at even distances. */
  readonly branches?: number;
  /** How many of these branches `main` merges again, at most `branches`. */
  readonly merges?: number;
  /** Tags `v0`, `v1`, … on commits of `main`, annotated and lightweight in turn. */
  readonly tags?: number;
}

/** Makes a bare repository with a history of text files, through `git fast-import`.
 * @returns its path
 * @see git-fast-import(1) */
export async function makeHistory(shape: HistoryShape): Promise<string> {
  const dir = await makeRepository("history.git", "--bare");
  const { code, stderr } = await tryGit(dir, ["fast-import", "--quiet"], { stdin: new History(shape).write() });
  if (code !== 0) throw new Error(`git fast-import ended with ${code}:\n${stderr}`);
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

/** Writes the fast-import stream of one history. */
class History {
  readonly #shape: HistoryShape;
  readonly #random: (below: number) => number;
  readonly #files: string[][];
  readonly #stream: string[] = [];
  #mark = 0;

  constructor(shape: HistoryShape) {
    this.#shape = shape;
    this.#random = makeRandom(shape.seed ?? 1);
    this.#files = Array.from({ length: shape.files }, () =>
      Array.from({ length: 5 + this.#random(60) }, () => this.#makeLine()),
    );
  }

  write(): string {
    const { commits, branches = 0, merges = 0, tags = 0 } = this.#shape;
    let tip = this.#writeCommit("main", [], [...this.#files.keys()]);
    const branchEvery = Math.max(1, Math.floor(commits / (branches + 1)));
    const tagEvery = Math.max(1, Math.floor(commits / (tags + 1)));
    let branch = 0;
    let tag = 0;
    for (let count = 1; count < commits; count++) {
      const parents = [tip];
      if (branch < branches && count % branchEvery === 0) {
        const side = this.#writeBranch(`side-${branch}`, tip);
        if (branch++ < merges) parents.push(side);
      }
      tip = this.#writeCommit("main", parents, this.#editFiles());
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

  #writeBranch(name: string, from: number): number {
    return this.#writeCommit(name, [this.#writeCommit(name, [from], this.#editFiles())], this.#editFiles());
  }

  #writeCommit(branch: string, [parent, merged]: readonly number[], numbers: readonly number[]): number {
    const mark = ++this.#mark;
    const message = `Commit ${mark}: ${this.#makeLine()}\n`;
    this.#stream.push(`commit refs/heads/${branch}\nmark :${mark}\n${this.#writePerson("committer")}${quote(message)}`);
    if (parent !== undefined) this.#stream.push(`from :${parent}\n`);
    if (merged !== undefined) this.#stream.push(`merge :${merged}\n`);
    for (const number of numbers) {
      const path = `dir-${number % 17}/dir-${number % 5}/file-${number}.txt`;
      this.#stream.push(`M 100644 inline ${path}\n${quote(`${(this.#files[number] ?? []).join("\n")}\n`)}`);
    }
    this.#stream.push("\n");
    return mark;
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
