import type { GraphPosition, ObjectNumber } from "../../base/numbers/kinds.ts";
import { CALL_STEPS } from "../../base/format/limits.ts";
import { equalOids, toHex } from "../../base/format/oid.ts";
import { hashPath } from "../../base/format/path-filter.ts";
import type { TreeEntry } from "../../base/format/tree.ts";
import { Bitset } from "../../base/numbers/bitset.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { CommitRecord } from "../../contract/commits.ts";
import { readCommits } from "../objects/commit-record.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import { WorkBudget } from "../../base/pacing/work-budget.ts";
import { newWalkMemory, type WalkMemory } from "../state/walk-memory.ts";
import { DirectoryVersions, type Listing } from "./directory-versions.ts";
import type { LastCommits } from "../../contract/files.ts";

/** Commits whose directory is read at a time, and the most entries these directories may have. */
const COMMITS_AHEAD = 256;
const ENTRIES_AHEAD = 50_000;

/** Commits without a filter that are read at a time: they follow each other, and most entries end
 * soon. */
const UNFILTERED_AHEAD = 64;

/** Entries that are looked for in filters in the time of one of `WorkBudget`'s steps. */
const LOOKS_PER_STEP = 500;

/** What is known of an entry. */
interface KnownCommit {
  /** Object number of its last commit, or of one that it came to. */
  readonly commit: ObjectNumber;
  /** Whether the last commit may be an earlier one. */
  readonly isOpen: boolean;
}

/** What is known of a directory's entries, by `toKey`. */
type KnownCommits = ReadonlyMap<string, KnownCommit>;

/** What was found before, and how many bytes each entry takes. */
const memoryOf = newWalkMemory<KnownCommits>(4 * 1024 * 1024);
const KNOWN_BYTES = 200;

/** Entries of a directory that are remembered: those of five pages. */
const MAX_KNOWN = 5_000;

/** Finds the last commit that touched each entry of a directory, as `git log -1` does for one path.
 * @param tip object number of a commit
 * @param path byte string of the directory, "" for the root
 * @throws GitError "storage-failed"
 * @see git-log(1) "History Simplification" */
export async function findLastCommits(
  repository: OpenRepository,
  tip: ObjectNumber,
  path: string,
  entries: readonly TreeEntry[],
  budget = new WorkBudget(CALL_STEPS),
): Promise<LastCommits> {
  const memory = memoryOf(repository.state);
  const walk = new LastCommitsWalk(repository, path, entries, memory, budget);
  const found = await walk.run(tip);
  const known = new Map(Array.from(walk.known(), ([i, one]) => [toKey(entries[i]!), one]));
  // Other parts of the directory stay known, as far as there is room.
  for (const [key, one] of memory.find(path, tip) ?? []) {
    if (known.size >= MAX_KNOWN) break;
    if (!known.has(key)) known.set(key, one);
  }
  memory.keep(path, tip, known, known.size * KNOWN_BYTES);
  return showCommits(repository, found, entries.length);
}

/** From the tip on, an entry moves to the first parent in which it is the same. The commit without
 * such a parent is the result. Where a commit's filter tells that it does not change the entry, the
 * entry moves to the first parent and nothing is read. Other entries wait until all have come as
 * far as they can: then the directories that they need are read together. What is known from
 * earlier requests ends the walk of an entry, or takes it to where an earlier walk ended. */
class LastCommitsWalk {
  readonly #repository: OpenRepository;
  readonly #entries: readonly TreeEntry[];
  readonly #versions: DirectoryVersions;
  readonly #ahead: number;
  /** Of the directory, and of each entry. */
  readonly #hashes: Uint32Array;
  readonly #hashesOf: readonly Uint32Array[];
  /** The entries at a commit, by its position. */
  readonly #waiting = new Map<GraphPosition, number[]>();
  /** The positions that are or were in `#waiting`. Parents have lower positions than their
   * children. */
  readonly #met: Bitset<GraphPosition>;
  /** By entry: the object number of its last commit. */
  readonly #found = new Map<number, ObjectNumber>();
  readonly #path: string;
  readonly #memory: WalkMemory<KnownCommits>;
  readonly #budget: WorkBudget;

  constructor(
    repository: OpenRepository,
    path: string,
    entries: readonly TreeEntry[],
    memory: WalkMemory<KnownCommits>,
    budget: WorkBudget,
  ) {
    this.#budget = budget;
    this.#repository = repository;
    this.#path = path;
    this.#memory = memory;
    this.#entries = entries;
    const names = entries.map(({ name }) => name);
    this.#versions = new DirectoryVersions(repository, path, names);
    this.#ahead = Math.max(2, Math.min(COMMITS_AHEAD, Math.floor(ENTRIES_AHEAD / (entries.length + 1))));
    this.#hashes = hashPath(path);
    this.#hashesOf = entries.map(({ name }) => hashPath(path === "" ? name : `${path}/${name}`));
    this.#met = new Bitset(repository.tables.graph.length);
  }

  /** @param tip object number
   * @returns by entry the object number of its commit, without those that are not found in time */
  async run(tip: ObjectNumber): Promise<ReadonlyMap<number, ObjectNumber>> {
    const all = this.#entries.map((_, i) => i);
    this.#move(all, this.#repository.tables.graph.position(tip));
    let unread = await this.#advance();
    while (unread.length > 0 && !this.#budget.isSpent) {
      const needed = this.#repository.tables.graph.parents(unread[0]!).length;
      await this.#versions.load(this.#rootsFor(unread), needed, this.#budget);
      // Also when that has spent the rest: what was read must not have to be read again.
      unread = await this.#advance();
    }
    return this.#found;
  }

  /** What is known of the entries after `run`, by entry: also how far those came that are not
   * found. */
  *known(): Generator<[entry: number, known: KnownCommit]> {
    const { graph } = this.#repository.tables;
    for (const [entry, commit] of this.#found) yield [entry, { commit, isOpen: false }];
    for (const [position, here] of this.#waiting)
      for (const entry of here) yield [entry, { commit: graph.number(position), isOpen: true }];
  }

  /** Moves all entries as far as filters and the versions that were read tell.
   * @returns where some wait for others, the highest position first */
  async #advance(): Promise<GraphPosition[]> {
    const { graph } = this.#repository.tables;
    const unread: GraphPosition[] = [];
    let looks = 0;
    const start = Iterator.from(this.#waiting.keys()).reduce((a, b) => Math.max(a, b), -1);
    for (let position = start; position >= 0; position = this.#met.previous(position)) {
      const here = this.#waiting.get(position);
      if (here === undefined) continue;
      this.#waiting.delete(position);
      looks += here.length;
      const changed = this.#moveUnchanged(position, this.#takeKnown(position, here));
      if (changed.length > 0) {
        if (graph.parents(position).every((parent) => this.#versions.has(graph.tree(parent)))) {
          this.#compare(position, changed);
        } else {
          this.#waiting.set(position, changed);
          unread.push(position);
        }
      }
      if (looks < LOOKS_PER_STEP) continue;
      looks = 0;
      await this.#budget.step();
      if (this.#budget.isSpent) break;
    }
    return unread;
  }

  /** Takes what is known of entries at a commit.
   * @returns the others */
  #takeKnown(position: GraphPosition, here: number[]): number[] {
    const { graph } = this.#repository.tables;
    const known = this.#memory.find(this.#path, graph.number(position));
    if (known === undefined) return here;
    return here.filter((i) => {
      const one = known.get(toKey(this.#entries[i]!));
      // An earlier walk may have ended here.
      const at = one?.isOpen === true ? graph.position(one.commit) : -1;
      if (one === undefined || at >= position) return true;
      if (one.isOpen) this.#move([i], at);
      else this.#found.set(i, one.commit);
      return false;
    });
  }

  /** Moves the entries that a commit does not change, as its filter tells.
   * @returns the others */
  #moveUnchanged(position: GraphPosition, here: number[]): number[] {
    const { graph, pathFilters } = this.#repository.tables;
    const parent = graph.firstParent(position);
    if (parent < 0 || here.length === 0) return here;
    if (pathFilters.rulesOut(position, this.#hashes)) {
      this.#move(here, parent);
      return [];
    }
    const changed = here.filter((i) => !pathFilters.rulesOut(position, this.#hashesOf[i]!));
    if (changed.length === 0) this.#move(here, parent);
    else if (changed.length < here.length) {
      const isChanged = new Set(changed);
      this.#move(
        here.filter((i) => !isChanged.has(i)),
        parent,
      );
    }
    return changed;
  }

  /** Moves the entries that are the same in a parent. The others are found. */
  #compare(position: GraphPosition, here: readonly number[]): void {
    const { graph } = this.#repository.tables;
    let rest = here;
    for (const parent of graph.parents(position)) {
      const listing = this.#versions.get(graph.tree(parent));
      const { same = [], other = [] } = Object.groupBy(rest, (i) =>
        isSame(this.#entries[i]!, listing) ? "same" : "other",
      );
      this.#move(same, parent);
      rest = other;
    }
    for (const entry of rest) this.#found.set(entry, graph.number(position));
  }

  #move(entries: readonly number[], position: GraphPosition): void {
    if (entries.length === 0) return;
    const waiting = this.#waiting.get(position);
    if (waiting === undefined) {
      this.#waiting.set(position, [...entries]);
      this.#met.add(position);
    } else for (const entry of entries) waiting.push(entry);
  }

  /** The root trees whose directory is read next: those of the parents of as many commits as may
   * be, and of commits without a filter that follow them. */
  #rootsFor(unread: readonly GraphPosition[]): Set<ObjectNumber> {
    const { graph, pathFilters } = this.#repository.tables;
    const commits = new Set(unread.slice(0, this.#ahead));
    const most = Math.min(this.#ahead, UNFILTERED_AHEAD);
    let at = graph.firstParent(unread[0]!);
    for (; at >= 0 && commits.size < most && !pathFilters.has(at); at = graph.firstParent(at)) commits.add(at);
    const parents = [...commits].flatMap((commit) => [...graph.parents(commit)]);
    return new Set(parents.map((parent) => graph.tree(parent)));
  }
}

/** Names a version of an entry. */
function toKey({ name, mode, oid }: TreeEntry): string {
  return `${mode} ${toHex(oid)} ${name}`;
}

function isSame(entry: TreeEntry, listing: Pick<Listing, "find"> | null): boolean {
  const other = listing?.find(entry.name) ?? null;
  return other !== null && other.mode === entry.mode && equalOids(other.oid, entry.oid);
}

/** @param found by entry the object number of its commit */
async function showCommits(
  repository: OpenRepository,
  found: ReadonlyMap<number, ObjectNumber>,
  count: number,
): Promise<LastCommits> {
  const numbers = NumberSet.fromUnsorted(found.values());
  const commits: CommitRecord[] = [];
  for await (const [, commit] of readCommits(repository, [...numbers.toArray()])) commits.push(commit);
  const indexes = new Int32Array(count).fill(-1);
  for (const [entry, commit] of found) indexes[entry] = numbers.indexOf(commit);
  return { commits, indexes };
}
