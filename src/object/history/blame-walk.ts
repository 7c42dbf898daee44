import type { PositionSet, CommitGraph } from "../store/graph/commit-graph.ts";
import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { BlameTexts } from "./blame-texts.ts";
import { type BlamedLines, originsOf, sortByStart, splitByParent } from "./blamed-lines.ts";
import { findRename } from "./find-original.ts";
import { KnownLines, type TracedLines } from "./known-lines.ts";
import { ABSENT, kindOfCode, numberOfCode } from "./path-entries.ts";
import { PathHistory } from "./path-history.ts";
import type { WorkBudget } from "../../base/pacing/work-budget.ts";
import { newWalkMemory } from "../state/walk-memory.ts";

/** Lines that a commit introduced. */
export interface Blame extends BlamedLines {
  /** Position of the commit. */
  readonly commit: GraphPosition;
  /** Whether the lines are older, or may be: the work ended at this commit. */
  readonly isOpen: boolean;
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

/** Commits that are visited in the time of one of `WorkBudget`'s steps: most do not change the
 * file. */
const VISITS_PER_STEP = 64;

/** What the search for a file's former name counts for. */
const SEARCH_STEPS = 500;

/** What is known of all lines of a file in a commit: one of the most lines and groups fits. */
const memoryOf = newWalkMemory<KnownLines>(8 * 1024 * 1024);

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
  readonly #texts: BlameTexts;
  readonly #blames: Blame[] = [];

  constructor(repository: OpenRepository, budget: WorkBudget) {
    this.#repository = repository;
    this.#graph = repository.tables.graph;
    this.#met = new Bitset<GraphPosition>(this.#graph.length);
    this.#budget = budget;
    this.#texts = new BlameTexts(repository, budget);
  }

  /** Finds where lines of a file come from. Goes on from what earlier walks have found, and
   * remembers what this one finds.
   * @param commit position
   * @param path byte string; the commit must have a blob there
   * @param isAll whether these are all lines of the file
   * @returns in the order of the lines; neighbours with the same origin are joined
   * @throws GitError "storage-failed" */
  async run(commit: GraphPosition, path: string, lines: BlamedLines, isAll: boolean): Promise<Blame[]> {
    const memory = memoryOf(this.#repository.state);
    const number = this.#graph.number(commit);
    const name = isAll ? path : `${path}\0${lines.line} ${lines.count}`;
    const known = memory.find(path, number) ?? memory.find(name, number);
    if (known === undefined) this.#suspect(commit, path, [lines]);
    else this.#goOn([lines], known.toArray());
    await this.#walk();
    const blames = joinBlames(this.#blames);
    // Another walk may have come further meanwhile.
    const found = new KnownLines(blames.map((blame) => ({ ...blame, commit: this.#graph.number(blame.commit) })));
    if (found.openCount <= (memory.find(name, number)?.openCount ?? lines.count)) {
      memory.keep(name, number, found, found.sizeBytes);
    }
    return blames;
  }

  async #walk(): Promise<void> {
    let visits = 0;
    for (let next = this.#met.previous(this.#met.length); next >= 0; next = this.#met.previous(next)) {
      const files = this.#pending.get(next)!;
      const isOver = visits++ > 0 && this.#budget.isSpent;
      for (const [path, lines] of files) {
        if (isOver) this.#attribute(next, path, lines, true);
        else if (!this.#take(next, path, lines) && !this.#skip(next, path, lines)) {
          await this.#pass(next, path, lines);
        }
      }
      this.#pending.delete(next);
      if (visits % VISITS_PER_STEP === 0) await this.#budget.step();
    }
  }

  /** Takes the origins of lines from what is known of the file in a commit.
   * @returns whether that was anything */
  #take(commit: GraphPosition, path: string, lines: readonly BlamedLines[]): boolean {
    const known = memoryOf(this.#repository.state).find(path, this.#graph.number(commit))?.toArray();
    // What an earlier walk left open at this very commit begins here.
    if (known === undefined || known.some((one) => one.isOpen && this.#graph.position(one.commit) >= commit))
      return false;
    this.#goOn(lines, known);
    return true;
  }

  /** Goes on where an earlier walk ended. */
  #goOn(lines: readonly BlamedLines[], known: readonly TracedLines[]): void {
    const { open = [], found = [] } = Object.groupBy(originsOf(lines, known), (one) => (one.isOpen ? "open" : "found"));
    for (const one of found) this.#attribute(this.#graph.position(one.commit), one.path, [one]);
    for (const [commit, inCommit] of Map.groupBy(open, (one) => one.commit)) {
      for (const [path, parts] of Map.groupBy(inCommit, (one) => one.path)) {
        this.#suspect(this.#graph.position(commit), path, parts);
      }
    }
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
      const ahead = () => history.known(this.#pending.keys()).map(numberOfCode);
      const changes = await this.#texts.compare(parent.blob, own.blob, ahead);
      const { inherited, own: left } = splitByParent(rest, changes);
      this.#suspect(parent.commit, parent.path, inherited);
      rest = left;
    }
    this.#attribute(commit, path, rest);
  }

  #attribute(commit: GraphPosition, path: string, lines: readonly BlamedLines[], isOpen = false): void {
    for (const one of lines) this.#blames.push({ ...one, commit, path, isOpen });
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
      await this.#budget.step(SEARCH_STEPS);
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
      last.isOpen === blame.isOpen &&
      last.start + last.count === blame.start;
    if (follows) joined[joined.length - 1] = { ...last, count: last.count + blame.count };
    else joined.push(blame);
  }
  return joined;
}
