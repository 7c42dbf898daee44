import { toHex } from "../../format/oid.ts";
import { FILE_MODE } from "../../format/tree.ts";
import { type FileChange, type FileVersion, typeBits } from "./file-change.ts";
import { type Fingerprint, MAX_SCORE, mayBeSimilar, scoreSimilarity, takeFingerprint } from "./similarity.ts";

/** A renamed file is at least half the same. */
const MINIMUM_SCORE = MAX_SCORE / 2;
/** One that kept its name, the only file of that name to come and to go, is told by this without a look at others. */
const MINIMUM_SCORE_BY_NAME = MINIMUM_SCORE + (MAX_SCORE - MINIMUM_SCORE) / 2;
/** So many sources of a destination are remembered, in case that the best are taken by others. */
const CANDIDATES_PER_DESTINATION = 4;
/** Sources of the same content that are looked at for one with the destination's name. */
const MAX_EQUAL_SOURCES = 100;
/** The id of a blob without bytes. */
const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Comparisons between two looks at the clock. */
const COMPARISONS_PER_PAUSE = 256;

/** The contents that renames are told by. */
export interface RenameBlobs {
  /** The sizes of blobs in bytes.
   * @param numbers object numbers, each once */
  sizes(numbers: readonly number[]): ReadonlyMap<number, number>;
  /** Reads blobs, in any order.
   * @param numbers object numbers, each once */
  read(numbers: readonly number[]): AsyncIterable<readonly [number: number, content: Uint8Array]>;
  /** Lets others run if it is time to. */
  pause(): Promise<void>;
}

/** What is looked for, and how far. */
export interface RenameOptions {
  /** Sources times destinations may be this squared at the most; git's `diff.renameLimit` is 1,000, `merge.renameLimit` 7,000. */
  readonly maxFiles: number;
  /** A larger blob is like no other. */
  readonly maxBlobBytes: number;
  /** Bytes of blobs that may be read. */
  readonly maxReadBytes: number;
  /** Whether an empty file can be another one renamed: in a diff it can, in a merge not. */
  readonly matchesEmpty: boolean;
}

/** Changes with the renames among them found. */
export interface RenamedChanges {
  /** In the order they were given in; a rename is where the added file was. */
  readonly changes: FileChange[];
  /** Whether there were too many files to look at all for similar ones. */
  readonly isLimited: boolean;
}

/** A deleted or an added file. */
export interface Candidate {
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  readonly version: FileVersion;
  /** Where it is among the changes. */
  readonly index: number;
}

/** A deleted file that is an added one under another name. */
export interface Match {
  readonly source: Candidate;
  readonly destination: Candidate;
  readonly score: number;
}

/** Finds which of the added files are deleted ones under another name, exactly as `git diff -M` does: first those of the same
 * content, then those of the same name, then the most similar ones.
 * @param changes by path, none of them renamed
 * @see gitdiffcore(7), "diffcore-rename" */
export async function findRenames(
  changes: readonly FileChange[],
  blobs: RenameBlobs,
  options: RenameOptions,
): Promise<RenamedChanges> {
  const search = new RenameSearch(changes, blobs, options);
  search.matchEqual();
  const isLimited = !(await search.matchPairs(search.pairNames())) || !(await search.matchSimilar());
  return { changes: search.finish(), isLimited };
}

/** The search, step by step: each takes what the one before it left unmatched. */
export class RenameSearch {
  readonly #changes: readonly FileChange[];
  readonly #blobs: RenameBlobs;
  readonly #options: RenameOptions;
  #sources: Candidate[] = [];
  #destinations: Candidate[] = [];
  readonly #matches: Match[] = [];
  readonly #sizes = new Map<number, number>();
  readonly #fingerprints = new Map<number, Fingerprint>();
  #readBytes = 0;
  #comparisons = 0;

  constructor(changes: readonly FileChange[], blobs: RenameBlobs, options: RenameOptions) {
    this.#changes = changes;
    this.#blobs = blobs;
    this.#options = options;
    for (const [index, { oldPath, path, old, next }] of changes.entries()) {
      if (!options.matchesEmpty && toHex((old ?? next)!.oid) === EMPTY_BLOB) continue;
      if (next === null) this.#sources.push(newCandidate(oldPath, old!, index));
      else if (old === null) this.#destinations.push(newCandidate(path, next, index));
    }
  }

  /** The deleted files that are not matched yet. */
  get sources(): readonly Candidate[] {
    return this.#sources;
  }

  /** The added files that are not matched yet. */
  get destinations(): readonly Candidate[] {
    return this.#destinations;
  }

  /** What was matched so far. */
  get matches(): readonly Match[] {
    return this.#matches;
  }

  /** Leaves out other sources from now on. */
  keepSources(isKept: (source: Candidate) => boolean): void {
    this.#sources = this.#sources.filter(isKept);
  }

  /** Matches files of the same content, of the same name if there is one. */
  matchEqual(): void {
    const sourcesOf = Map.groupBy(this.#sources, ({ version }) => toHex(version.oid));
    for (const destination of this.#destinations) {
      const equal = sourcesOf.get(toHex(destination.version.oid)) ?? [];
      const chosen = chooseEqual(equal, destination);
      if (chosen !== -1) this.#match(equal.splice(chosen, 1)[0]!, destination, MAX_SCORE);
    }
    this.#dropMatched();
  }

  /** Pairs of files of a name that only one source and one destination have. */
  pairNames(): [Candidate, Candidate][] {
    const sourceOf = uniqueByName(this.#sources);
    const pairs: [Candidate, Candidate][] = [];
    for (const [name, destination] of uniqueByName(this.#destinations)) {
      const source = sourceOf.get(name) ?? null;
      if (source !== null && destination !== null) pairs.push([source, destination]);
    }
    return pairs;
  }

  /** Matches pairs that are of the same name, where they are similar enough for that; the first pair of a file counts.
   * @returns false when there are too many to read */
  async matchPairs(pairs: readonly (readonly [source: Candidate, destination: Candidate])[]): Promise<boolean> {
    this.#learnSizes(pairs.flat());
    const close = pairs.filter(([source, destination]) => this.#mayMatch(source, destination, MINIMUM_SCORE_BY_NAME));
    if (!(await this.#takeFingerprints(new Set(close.flat())))) return false;
    const taken = new Set<Candidate>();
    for (const [source, destination] of close) {
      const score = this.#score(source, destination, MINIMUM_SCORE_BY_NAME);
      if (score < MINIMUM_SCORE_BY_NAME || taken.has(source) || taken.has(destination)) continue;
      taken.add(source).add(destination);
      this.#match(source, destination, score);
    }
    this.#dropMatched();
    return true;
  }

  /** Matches those most similar.
   * @returns false when there are too many */
  async matchSimilar(): Promise<boolean> {
    const sources = this.#sources;
    const destinations = this.#destinations;
    if (sources.length * destinations.length > this.#options.maxFiles ** 2) return false;
    this.#learnSizes([...sources, ...destinations]);
    const read = new Set<Candidate>();
    for (const destination of destinations) {
      for (const source of sources) {
        if (this.#mayMatch(source, destination, MINIMUM_SCORE)) read.add(source).add(destination);
      }
      await this.#blobs.pause();
    }
    if (!(await this.#takeFingerprints(read))) return false;

    const ranked: Ranked[] = [];
    for (const destination of destinations) {
      const best: Ranked[] = [];
      for (const source of sources) {
        if (++this.#comparisons % COMPARISONS_PER_PAUSE === 0) await this.#blobs.pause();
        const score = this.#score(source, destination, MINIMUM_SCORE);
        offer(best, { source, destination, score, hasName: source.name === destination.name });
      }
      for (const one of best) ranked.push(one);
    }
    const taken = new Set<Candidate>();
    for (const { source, destination, score } of ranked.sort(compareRanked)) {
      if (score < MINIMUM_SCORE) break;
      if (taken.has(source) || taken.has(destination)) continue;
      taken.add(source).add(destination);
      this.#match(source, destination, score);
    }
    this.#dropMatched();
    return true;
  }

  /** The changes, with each match in the place of its two. */
  finish(): FileChange[] {
    const matches = new Map(this.#matches.map((match) => [match.destination.index, match]));
    const gone = new Set(this.#matches.map(({ source }) => source.index));
    return this.#changes.flatMap((change, index) => {
      if (gone.has(index)) return [];
      const match = matches.get(index);
      if (match === undefined) return [change];
      const { source, score } = match;
      const similarity = Math.floor((score * 100) / MAX_SCORE);
      return [{ ...change, oldPath: source.path, old: source.version, similarity }];
    });
  }

  #match(source: Candidate, destination: Candidate, score: number): void {
    this.#matches.push({ source, destination, score });
  }

  #dropMatched(): void {
    const matched = new Set(this.#matches.flatMap(({ source, destination }) => [source, destination]));
    this.#sources = this.#sources.filter((source) => !matched.has(source));
    this.#destinations = this.#destinations.filter((destination) => !matched.has(destination));
  }

  #learnSizes(candidates: readonly Candidate[]): void {
    const numbers = new Set(candidates.filter(isRegularFile).map(({ version }) => version.number));
    const unknown = [...numbers].filter((number) => !this.#sizes.has(number));
    for (const [number, sizeBytes] of this.#blobs.sizes(unknown)) this.#sizes.set(number, sizeBytes);
  }

  #mayMatch(source: Candidate, destination: Candidate, minimumScore: number): boolean {
    if (!isRegularFile(source) || !isRegularFile(destination)) return false;
    const oldSizeBytes = this.#sizes.get(source.version.number)!;
    const nextSizeBytes = this.#sizes.get(destination.version.number)!;
    if (Math.max(oldSizeBytes, nextSizeBytes) > this.#options.maxBlobBytes) return false;
    return mayBeSimilar(oldSizeBytes, nextSizeBytes, minimumScore);
  }

  /** @returns false when there is too much to read */
  async #takeFingerprints(candidates: ReadonlySet<Candidate>): Promise<boolean> {
    const numbers = new Set([...candidates].map(({ version }) => version.number));
    const unknown = [...numbers].filter((number) => !this.#fingerprints.has(number));
    for (const number of unknown) this.#readBytes += this.#sizes.get(number)!;
    if (this.#readBytes > this.#options.maxReadBytes) return false;
    for await (const [number, content] of this.#blobs.read(unknown)) {
      this.#fingerprints.set(number, takeFingerprint(content));
      await this.#blobs.pause();
    }
    return true;
  }

  #score(source: Candidate, destination: Candidate, minimumScore: number): number {
    if (!this.#mayMatch(source, destination, minimumScore)) return 0;
    return scoreSimilarity(
      this.#fingerprints.get(source.version.number)!,
      this.#fingerprints.get(destination.version.number)!,
    );
  }
}

function newCandidate(path: string, version: FileVersion, index: number): Candidate {
  return { path, name: path.slice(path.lastIndexOf("/") + 1), version, index };
}

/** Chooses among files of the destination's content: the first of its name, else the first.
 * @returns its index, -1 when none can be */
function chooseEqual(equal: readonly Candidate[], destination: Candidate): number {
  let first = -1;
  let seen = 0;
  for (const [i, source] of equal.entries()) {
    const mayPair = isRegularFile(source) && isRegularFile(destination);
    if (!mayPair && source.version.mode !== destination.version.mode) continue;
    if (source.name === destination.name) return i;
    if (first === -1) first = i;
    if (++seen > MAX_EQUAL_SOURCES) break;
  }
  return first;
}

/** Candidates by name; null where there are several of a name. */
function uniqueByName(candidates: readonly Candidate[]): Map<string, Candidate | null> {
  const unique = new Map<string, Candidate | null>();
  for (const candidate of candidates) unique.set(candidate.name, unique.has(candidate.name) ? null : candidate);
  return unique;
}

function isRegularFile({ version }: Candidate): boolean {
  return typeBits(version.mode) === typeBits(FILE_MODE);
}

/** What makes one source better than another. */
export interface Ranking {
  readonly score: number;
  /** Whether it has the destination's name. */
  readonly hasName: boolean;
}

type Ranked = Match & Ranking;

/** Puts the better before the worse. */
export function compareRanked(a: Ranking, b: Ranking): number {
  return b.score - a.score || Number(b.hasName) - Number(a.hasName);
}

/** Keeps the best, each in its place: of equal ones the earlier place wins in the end.
 * @see record_if_better() in git's diffcore-rename.c */
export function offer<Candidate extends Ranking>(best: Candidate[], ranked: Candidate): void {
  if (best.length < CANDIDATES_PER_DESTINATION) {
    best.push(ranked);
    return;
  }
  let worst = 0;
  for (let i = 1; i < best.length; i++) if (compareRanked(best[i]!, best[worst]!) > 0) worst = i;
  if (compareRanked(best[worst]!, ranked) > 0) best[worst] = ranked;
}
