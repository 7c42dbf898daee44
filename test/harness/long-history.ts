import { fastImport } from "./fast-import.ts";
import { git, makeRepository } from "./git.ts";
import { Random } from "./random.ts";

/** The shape of a long history. The same shape gives the same object ids on every machine. */
export interface LongHistoryShape {
  readonly seed?: number;
  /** Commits in all, merges among them. */
  readonly commits: number;
  /** Files in the last commit, about. */
  readonly files: number;
  /** Lines of `LONG_FILE` in the last commit, about. */
  readonly longLines: number;
  /** The long file is changed by one commit of so many. */
  readonly longEvery?: number;
}

/** A file that grows line by line through the whole history. */
export const LONG_FILE = "src/core/long.c";

/** Files of the root, and how many commits there are for one that changes each. `LICENSE` never
 * changes. */
const SELDOM = { "version.txt": 200, "README.md": 600, Makefile: 3_000, ".gitignore": 12_000 };

/** Lines to which a file grows, but for the long one. */
const MOST_LINES = 100;

/** How much of the stream is joined to one buffer. */
const PART_BYTES = 32 * 1024 * 1024;

/** A branch that is not merged yet. */
interface OpenBranch {
  /** Marks. */
  tip: number;
  /** What its commits have changed: path and content, null: deleted. */
  readonly changed: Map<string, string | null>;
  left: number;
}

/** Makes a bare repository like that of a project of many years: files several directories deep
 * that are added all the time, of which a few change often and most seldom; topic branches of a few
 * commits, merged into `main`; now and then a file is renamed or deleted, or one of the root
 * changed.
 * @returns its path */
export async function makeLongHistory(shape: LongHistoryShape): Promise<string> {
  const dir = await makeRepository("long.git", "--bare");
  await fastImport(dir, new LongHistory(shape).write());
  await git(dir, "symbolic-ref", "HEAD", "refs/heads/main");
  return dir;
}

/** Generates the stream of `git fast-import`. */
class LongHistory {
  readonly #shape: Required<LongHistoryShape>;
  readonly #random: Random;
  /** Lines by path. */
  readonly #files = new Map<string, string[]>();
  /** The files that most commits change; the oldest change most often. */
  readonly #paths: string[] = [];
  /** Paths that an open branch has changed: nobody else changes them. */
  readonly #busy = new Set<string>();
  readonly #open: OpenBranch[] = [];
  readonly #parts: Buffer[] = [];
  #lines: string[] = [];
  #bytes = 0;
  #main = 0;
  #mark = 0;
  #names = 0;

  constructor(shape: LongHistoryShape) {
    this.#shape = { seed: 1, longEvery: 100, ...shape };
    this.#random = new Random(this.#shape.seed);
  }

  write(): Buffer {
    this.#begin();
    const { commits } = this.#shape;
    while (this.#mark < commits) {
      const isEnd = commits - this.#mark <= this.#open.length;
      const open = this.#open.length === 0 ? undefined : this.#random.pick(this.#open);
      if (open !== undefined && (isEnd || open.left === 0)) this.#merge(open);
      else if (open !== undefined && this.#random.below(2) === 0) this.#grow(open);
      else if (this.#open.length < 6 && this.#random.below(6) === 0) this.#branch();
      else this.#main = this.#commit("refs/heads/main", [this.#main], this.#change());
    }
    this.#flush();
    return Buffer.concat(this.#parts);
  }

  /** A tenth of the files, and those of the root. */
  #begin(): void {
    const changed = new Map<string, string | null>();
    for (const name of ["LICENSE", ...Object.keys(SELDOM)]) this.#put(name, 20, changed);
    this.#put(LONG_FILE, 50, changed);
    while (this.#files.size < this.#shape.files / 10) this.#add(changed);
    this.#main = this.#commit("refs/heads/main", [], changed);
  }

  #branch(): void {
    const open = { tip: this.#main, changed: new Map<string, string | null>(), left: 1 + this.#random.below(5) };
    this.#open.push(open);
    this.#grow(open);
  }

  #grow(open: OpenBranch): void {
    const changes = this.#change(open.changed);
    for (const [path, content] of changes) {
      open.changed.set(path, content);
      this.#busy.add(path);
    }
    open.tip = this.#commit("refs/heads/topic", [open.tip], changes);
    open.left -= 1;
  }

  #merge(open: OpenBranch): void {
    this.#open.splice(this.#open.indexOf(open), 1);
    for (const path of open.changed.keys()) this.#busy.delete(path);
    this.#main = this.#commit("refs/heads/main", [this.#main, open.tip], open.changed);
  }

  /** Changes one file or a few.
   * @param own what the branch has changed already, and may change again */
  #change(own: ReadonlyMap<string, unknown> = new Map()): Map<string, string | null> {
    const changed = new Map<string, string | null>();
    const { files, commits, longLines, longEvery } = this.#shape;
    const isFree = (path: string): boolean => own.has(path) || !this.#busy.has(path);
    const added = files / commits;
    if (this.#fraction() < added) this.#add(changed);
    if (this.#random.below(longEvery) === 0 && isFree(LONG_FILE)) {
      this.#edit(LONG_FILE, Math.ceil((longLines * longEvery) / commits), changed);
    }
    for (const [path, every] of Object.entries(SELDOM)) {
      if (this.#random.below(every) === 0 && isFree(path)) this.#edit(path, 0, changed);
    }
    if (this.#random.below(500) === 0) this.#rename(changed, isFree);
    const count = 1 + Math.floor(3 * this.#fraction() ** 3);
    for (let k = 0; k < count; k++) {
      const path = this.#paths[Math.floor(this.#paths.length * this.#fraction() ** 3)]!;
      const added = this.#files.get(path)!.length < MOST_LINES ? this.#random.below(3) : 0;
      if (isFree(path) && !changed.has(path)) this.#edit(path, added, changed);
    }
    return changed;
  }

  #rename(changed: Map<string, string | null>, isFree: (path: string) => boolean): void {
    const at = this.#random.below(this.#paths.length);
    const path = this.#paths[at]!;
    if (!isFree(path) || changed.has(path)) return;
    const next = this.#newPath();
    const lines = this.#files.get(path)!;
    this.#files.delete(path);
    this.#files.set(next, lines);
    this.#paths[at] = next;
    changed.set(path, null);
    changed.set(next, lines.join(""));
  }

  /** Changes some lines and adds others. */
  #edit(path: string, added: number, changed: Map<string, string | null>): void {
    const lines = this.#files.get(path)!;
    const at = this.#random.below(lines.length);
    for (let k = 0; k < 1 + this.#random.below(3) && at + k < lines.length; k++) lines[at + k] = this.#line();
    for (let k = 0; k < added; k++) lines.splice(this.#random.below(lines.length), 0, this.#line());
    changed.set(path, lines.join(""));
  }

  #put(path: string, count: number, changed: Map<string, string | null>): void {
    const lines = Array.from({ length: count }, () => this.#line());
    this.#files.set(path, lines);
    changed.set(path, lines.join(""));
  }

  #add(changed: Map<string, string | null>): void {
    const path = this.#newPath();
    this.#put(path, 10 + this.#random.below(60), changed);
    this.#paths.push(path);
  }

  /** A path of one to five parts; some directories have many more files than others. */
  #newPath(): string {
    const parts: string[] = [];
    const depth = this.#random.pick([1, 2, 2, 2, 3, 3, 4]);
    parts.push(this.#random.pick(["src", "src", "lib", "test", "docs", "tools"]));
    for (let k = 1; k < depth; k++) parts.push(`part-${Math.floor(12 * this.#fraction() ** 2)}`);
    return `${parts.join("/")}/file-${this.#names++}.${this.#random.pick(["c", "h", "ts", "md"])}`;
  }

  #line(): string {
    const words = ["return", "value", "for each", "entry", "length", "const", "offset", "if", "else", "number"];
    const line = `${this.#random.pick(words)} ${this.#random.pick(words)} ${this.#random.below(100_000)};`;
    return `${" ".repeat(2 * this.#random.below(5))}${line}\n`;
  }

  #fraction(): number {
    return this.#random.below(1_000_000) / 1_000_000;
  }

  #commit(ref: string, parents: readonly number[], changed: ReadonlyMap<string, string | null>): number {
    const mark = ++this.#mark;
    const time = 1_100_000_000 + mark * 900;
    this.#say(`commit ${ref}\nmark :${mark}\n`);
    this.#say(`author Author ${mark % 97} <${mark % 97}@example.com> ${time} +0100\n`);
    this.#say(`committer C <c@example.com> ${time} +0000\ndata 10\ncommit ${String(mark % 1000).padStart(3, "0")}\n`);
    parents.forEach((parent, k) => this.#say(`${k === 0 ? "from" : "merge"} :${parent}\n`));
    for (const [path, content] of changed) {
      if (content === null) this.#say(`D ${path}\n`);
      else this.#say(`M 644 inline ${path}\ndata ${content.length}\n${content}\n`);
    }
    return mark;
  }

  #say(text: string): void {
    this.#lines.push(text);
    this.#bytes += text.length;
    if (this.#bytes >= PART_BYTES) this.#flush();
  }

  #flush(): void {
    this.#parts.push(Buffer.from(this.#lines.join(""), "latin1"));
    this.#lines = [];
    this.#bytes = 0;
  }
}
