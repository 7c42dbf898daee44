import type { PositionSet } from "../../store/graph/commit-graph.ts";
import type { GraphPosition, ObjectNumber } from "../../store/numbers/kinds.ts";
import type { CommitGraph } from "../../store/graph/commit-graph.ts";
import { GitError } from "../../format/errors.ts";
import { Bitset } from "../../store/numbers/bitset.ts";
import { NumberSet } from "../../store/numbers/number-set.ts";
import { ByteCache } from "../pack-bytes/byte-cache.ts";
import type { WholeObject } from "../pack-bytes/delta-chains.ts";
import { diffLines, MAX_DIFF_STEPS } from "../diff/line-diff.ts";
import { commonTailBytes } from "../diff/text-lines.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { type BlamedLines, originsOf, sortByStart, splitByParent } from "./blamed-lines.ts";
import { findRename } from "./find-rename.ts";
import { ABSENT, kindOfCode, numberOfCode } from "./path-entries.ts";
import { PathHistory } from "./path-history.ts";
import type { WorkBudget } from "../pacing/work-budget.ts";
import { newWalkMemory } from "../state/walk-memory.ts";

/** Lines that a commit introduced. */
export interface Blame extends BlamedLines {
  /** Position of the commit; null: not found in time. */
  readonly commit: GraphPosition | null;
  /** Byte string: the file's path in the commit. */
  readonly path: string;
}

/** A file in a commit. */
interface Origin {
  readonly commit: GraphPosition;
  readonly path: string;
  /** Object number of the blob. */
  readonly blob: ObjectNumber;
}

/** The most bytes of a version whose lines are traced. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Bytes of the versions that are read in one batch. */
const BATCH_BYTES = 2 * 1024 * 1024;

/** Bytes of versions kept in memory: a version is compared with its child and then with its
 * parent. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Commits that are visited in the time of one of `WorkBudget`'s steps: most do not change the
 * file. */
const VISITS_PER_STEP = 64;

/** Steps that comparing versions may take, a second in all. 400 versions of a source file need some
 * 250,000; seven of 30,000 lines of two kinds need as many. */
const MAX_BLAME_DIFF_STEPS = 30_000_000;

/** Steps of a comparison in the time of one of `WorkBudget`'s. */
const DIFF_STEPS_PER_STEP = 500;

/** Lines of a file whose origin is known. */
export interface KnownLines extends BlamedLines {
  /** Object number. */
  readonly commit: ObjectNumber;
  /** Byte string: the file's path in the commit. */
  readonly path: string;
}

/** The origins of all lines of a file in a commit, in their order: what was found before, and how
 * many bytes each takes. */
const memoryOf = newWalkMemory<readonly KnownLines[]>(8 * 1024 * 1024);
const KNOWN_BYTES = 80;

/** Traces the lines of a file back to the commits that introduced them. Each line is passed on to
 * the first parent that has it; lines that no parent has are the commit's own. Children are handled
 * before their parents, so each version is handled once.
 * @see assign_blame() in git's blame.c, which takes the newest commit first, with the same
 * result */
export class BlameWalk {
  readonly #repository: OpenRepository;
  readonly #graph: CommitGraph;
  readonly #budget: WorkBudget;
  /** By commit, then by path: the lines traced back to that file so far. */
  readonly #pending = new Map<GraphPosition, Map<string, readonly BlamedLines[]>>();
  /** The positions that are or were in `#pending`. Parents have lower positions than their
   * children. */
  readonly #met: PositionSet;
  readonly #histories = new Map<string, PathHistory>();
  readonly #texts = new ByteCache<Uint8Array>(KEPT_BYTES);
  readonly #blames: Blame[] = [];
  #diffStepsLeft = MAX_BLAME_DIFF_STEPS;

  constructor(repository: OpenRepository, budget: WorkBudget) {
    this.#repository = repository;
    this.#graph = repository.tables.graph;
    this.#met = new Bitset<GraphPosition>(this.#graph.length);
    this.#budget = budget;
  }

  /** Finds where lines of a file come from.
   * @param commit position
   * @param path byte string; the commit must have a blob there
   * @returns in the order of the lines; neighbours with the same origin are joined
   * @throws GitError "storage-failed" */
  async run(commit: GraphPosition, path: string, lines: BlamedLines): Promise<Blame[]> {
    this.#suspect(commit, path, [lines]);
    let visits = 0;
    for (let next = this.#met.previous(this.#met.length); next >= 0; next = this.#met.previous(next)) {
      const files = this.#pending.get(next)!;
      const isOver = (visits++ % VISITS_PER_STEP === 0 && this.#budget.isSpent) || this.#diffStepsLeft <= 0;
      for (const [path, lines] of files) {
        if (isOver) this.#attribute(null, path, lines);
        else if (!this.#take(next, path, lines) && !this.#skip(next, path, lines)) {
          await this.#pass(next, path, lines);
        }
      }
      this.#pending.delete(next);
      if (visits % VISITS_PER_STEP === 0) await this.#budget.step();
    }
    return joinBlames(this.#blames);
  }

  /** Remembers the origins of all lines of a file, so that later walks end there. */
  keep(commit: GraphPosition, path: string, blames: readonly Blame[]): void {
    const known: KnownLines[] = [];
    for (const blame of blames) {
      if (blame.commit === null) return;
      known.push({ ...blame, commit: this.#graph.number(blame.commit) });
    }
    memoryOf(this.#repository.state).keep(path, this.#graph.number(commit), known, known.length * KNOWN_BYTES);
  }

  /** Takes the origins of lines from what is known of the file in a commit.
   * @returns whether they were known */
  #take(commit: GraphPosition, path: string, lines: readonly BlamedLines[]): boolean {
    const known = memoryOf(this.#repository.state).find(path, this.#graph.number(commit));
    if (known === undefined) return false;
    for (const one of originsOf(lines, known)) this.#blames.push({ ...one, commit: this.#graph.position(one.commit) });
    return true;
  }

  /** Passes lines on to the first parent of a commit that does not change the file, as its filter
   * tells.
   * @returns whether it did */
  #skip(commit: GraphPosition, path: string, lines: readonly BlamedLines[]): boolean {
    const parent = this.#graph.firstParent(commit);
    if (parent < 0 || !this.#history(path).isSkipped(commit)) return false;
    this.#suspect(parent, path, lines);
    return true;
  }

  /** Passes lines on to the parents of a commit that have them. */
  async #pass(commit: GraphPosition, path: string, lines: readonly BlamedLines[]): Promise<void> {
    const history = this.#history(path);
    await history.prepare(commit, () => this.#pending.keys());
    const own = { commit, path, blob: numberOfCode(history.at(commit)) };
    const parents = await this.#origins(own, history);
    const whole = parents.find(({ blob }) => blob === own.blob);
    if (whole !== undefined) return this.#suspect(whole.commit, whole.path, lines);
    let rest = sortByStart(lines);
    for (const parent of parents) {
      if (rest.length === 0) return;
      const [old, next] = [await this.#read(parent.blob, history), await this.#read(own.blob, history)];
      // As git does. The common tail is cut before the texts are split, since most of both is the
      // same.
      const same = commonTailBytes(old, next);
      const effort = { stepsLeft: MAX_DIFF_STEPS };
      const changes = diffLines(old.subarray(0, old.length - same), next.subarray(0, next.length - same), { effort });
      const cost = MAX_DIFF_STEPS - effort.stepsLeft;
      this.#diffStepsLeft -= cost;
      await this.#budget.step(Math.ceil(cost / DIFF_STEPS_PER_STEP));
      const { inherited, own: left } = splitByParent(rest, changes);
      this.#suspect(parent.commit, parent.path, inherited);
      rest = left;
    }
    this.#attribute(commit, path, rest);
  }

  #attribute(commit: GraphPosition | null, path: string, lines: readonly BlamedLines[]): void {
    for (const one of lines) this.#blames.push({ ...one, commit, path });
  }

  /** The file in the parents of its commit, as far as they have it. A parent with the same content
   * is returned alone. */
  async #origins(own: Origin, history: PathHistory): Promise<Origin[]> {
    const found: Origin[] = [];
    const renamed: number[] = [];
    const kind = fileKind(history, own.commit);
    for (const parent of this.#graph.parents(own.commit)) {
      const parentKind = fileKind(history, parent);
      if (parentKind === null) renamed.push(parent);
      if (parentKind !== kind) continue;
      const origin = { commit: parent, path: own.path, blob: numberOfCode(history.at(parent)) };
      if (origin.blob === own.blob) return [origin];
      found.push(origin);
    }
    for (const parent of renamed) {
      const rename = await findRename(
        this.#repository,
        this.#graph.tree(parent),
        this.#graph.tree(own.commit),
        own.path,
      );
      if (rename === null) continue;
      const origin = { commit: parent, path: rename.path, blob: rename.version.number };
      if (origin.blob === own.blob) return [origin];
      found.push(origin);
    }
    return inParentOrder(found, this.#graph.parents(own.commit));
  }

  #suspect(commit: GraphPosition, path: string, lines: readonly BlamedLines[]): void {
    if (lines.length === 0) return;
    const files = this.#pending.get(commit) ?? new Map<string, readonly BlamedLines[]>();
    this.#pending.set(commit, files);
    this.#met.add(commit);
    files.set(path, files.has(path) ? [...files.get(path)!, ...lines] : lines);
  }

  #history(path: string): PathHistory {
    const history = this.#histories.get(path) ?? new PathHistory(this.#repository, path, false, this.#budget);
    this.#histories.set(path, history);
    return history;
  }

  /** Reads a version of a file, together with those likely to be compared next.
   * @throws GitError "too-large", "storage-failed" */
  async #read(blob: ObjectNumber, history: PathHistory): Promise<Uint8Array> {
    const kept = this.#texts.get(String(blob));
    if (kept !== undefined) return kept;
    const ahead = history.known(this.#pending.keys()).map(numberOfCode);
    const blobs = new Set([
      blob,
      ...ahead.filter((number) => number !== 0 && this.#texts.get(String(number)) === undefined),
    ]);
    let text: Uint8Array | undefined;
    for await (const [number, { bytes }] of readTexts(this.#repository, blob, blobs)) {
      if (number === blob) text = bytes;
      this.#texts.set(String(number), bytes, bytes.length);
      await this.#budget.step();
    }
    return text!;
  }
}

/** Reads versions of a file, as many as may be in memory together.
 * @param needed one of `blobs`, which is read in any case
 * @throws GitError "too-large", "storage-failed" */
export function readTexts(
  { reader, tables }: OpenRepository,
  needed: number,
  blobs: ReadonlySet<ObjectNumber>,
): AsyncGenerator<[number: ObjectNumber, object: WholeObject], void, void> {
  const { number, size } = tables.objects.locate(NumberSet.fromUnsorted(blobs));
  const sizes = new Map(Array.from(number, (one, i) => [one, size[i]!]));
  let sizeBytes = sizes.get(needed)!;
  if (sizeBytes > MAX_FILE_BYTES) {
    throw new GitError("too-large", { what: "a version of the file", limit: MAX_FILE_BYTES, actual: sizeBytes });
  }
  const read = [needed];
  for (const blob of blobs) {
    if (blob !== needed && (sizeBytes += sizes.get(blob)!) <= BATCH_BYTES) read.push(blob);
  }
  return reader.readEach(NumberSet.fromUnsorted(read));
}

/** The type of file that a commit has at the path, executable or not; null: none. */
function fileKind(history: PathHistory, commit: GraphPosition): "file" | "symlink" | "gitlink" | null {
  const code = history.at(commit);
  const kind = kindOfCode(code);
  if (code === ABSENT || kind === "tree") return null;
  return kind === null ? "gitlink" : kind === "symlink" ? "symlink" : "file";
}

/** Of several parents with the same file only the first is used. */
function inParentOrder(origins: readonly Origin[], parents: Uint32Array): Origin[] {
  const ordered = origins.toSorted((a, b) => parents.indexOf(a.commit) - parents.indexOf(b.commit));
  return ordered.filter(({ blob }, i) => ordered.findIndex((other) => other.blob === blob) === i);
}

function joinBlames(blames: readonly Blame[]): Blame[] {
  const joined: Blame[] = [];
  for (const blame of blames.toSorted((a, b) => a.line - b.line)) {
    const last = joined.at(-1);
    const follows =
      last !== undefined &&
      last.commit === blame.commit &&
      last.path === blame.path &&
      last.start + last.count === blame.start;
    if (follows) joined[joined.length - 1] = { ...last, count: last.count + blame.count };
    else joined.push(blame);
  }
  return joined;
}
