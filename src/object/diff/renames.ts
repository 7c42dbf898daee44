import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { toHex } from "../../base/format/oid.ts";
import { isFileMode } from "../../base/format/tree.ts";
import type { FileChange, FileVersion } from "./file-change.ts";
import { compareRanked, offer, type Ranking } from "./ranking.ts";
import { type Fingerprint, MAX_SCORE, mayBeSimilar, scoreSimilarity, takeFingerprint } from "./similarity.ts";

/** A renamed file is at least half the same. */
const MINIMUM_SCORE = MAX_SCORE / 2;
/** If a file name was deleted exactly once and added exactly once, this score makes it a rename
 * without comparing other files. */
const MINIMUM_SCORE_BY_NAME = MINIMUM_SCORE + (MAX_SCORE - MINIMUM_SCORE) / 2;
/** How many sources with the same content are searched for one with the destination's name. */
const MAX_EQUAL_SOURCES = 100;
/** The id of the empty blob. */
const EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
/** Comparisons between two looks at the clock. */
const COMPARISONS_PER_PAUSE = 256;

/** The contents by which renames are detected. */
export interface RenameBlobs {
  /** The sizes of blobs in bytes.
   * @param numbers object numbers, each once */
  sizes(numbers: readonly ObjectNumber[]): ReadonlyMap<ObjectNumber, number>;
  /** Reads blobs, in any order.
   * @param numbers object numbers, each once */
  read(numbers: readonly ObjectNumber[]): AsyncIterable<readonly [number: ObjectNumber, content: Uint8Array]>;
  /** Lets other requests run when it is time. */
  pause(): Promise<void>;
}

/** The limits of rename detection. */
export interface RenameOptions {
  /** Sources times destinations may be at most the square of this. Git's `diff.renameLimit` is
   * 1,000, `merge.renameLimit` 7,000. */
  readonly maxFiles: number;
  /** A larger blob is similar to no other. */
  readonly maxBlobBytes: number;
  /** Bytes of blobs that may be read. */
  readonly maxReadBytes: number;
  /** Whether an empty file can be the source of a rename: yes in a diff, no in a merge. */
  readonly matchesEmpty: boolean;
}

/** Changes after rename detection. */
interface RenamedChanges {
  /** In the given order. A rename takes the place of the added file. */
  readonly changes: FileChange[];
  /** Whether there were too many files to compare all of them. */
  readonly isLimited: boolean;
}

/** A deleted or an added file. */
export interface Candidate {
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  readonly version: FileVersion;
  /** Its index among the changes. */
  readonly index: number;
}

/** A deleted file and the added file it was renamed to. */
interface Match {
  readonly source: Candidate;
  readonly destination: Candidate;
  readonly score: number;
}

type Ranked = Match & Ranking;

/** Finds which of the added files are deleted ones under another name, exactly as `git diff -M`
 * does: first files of the same content, then of the same name, then the most similar ones.
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

/** The search, step by step. Each step works on the files that the one before left unmatched. */
export class RenameSearch {
  readonly #changes: readonly FileChange[];
  readonly #blobs: RenameBlobs;
  readonly #options: RenameOptions;
  #sources: Candidate[] = [];
  #destinations: Candidate[] = [];
  readonly #matches: Match[] = [];
  readonly #sizes = new Map<ObjectNumber, number>();
  readonly #fingerprints = new Map<ObjectNumber, Fingerprint>();
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

  /** The matches so far. */
  get matches(): readonly Match[] {
    return this.#matches;
  }

  /** Excludes other sources from now on. */
  keepSources(isKept: (source: Candidate) => boolean): void {
    this.#sources = this.#sources.filter(isKept);
  }

  /** Matches files of the same content, preferring the same name. */
  matchEqual(): void {
    const sourcesOf = new Map<string, EqualSources>();
    for (const [hex, sources] of Map.groupBy(this.#sources, ({ version }) => toHex(version.oid)))
      sourcesOf.set(hex, new EqualSources(sources));
    for (const destination of this.#destinations) {
      const source = sourcesOf.get(toHex(destination.version.oid))?.take(destination);
      if (source !== undefined) this.#match(source, destination, MAX_SCORE);
    }
    this.#dropMatched();
  }

  /** Pairs files whose name occurs once among the sources and once among the destinations. */
  pairNames(): [Candidate, Candidate][] {
    const sourceOf = uniqueByName(this.#sources);
    const pairs: [Candidate, Candidate][] = [];
    for (const [name, destination] of uniqueByName(this.#destinations)) {
      const source = sourceOf.get(name) ?? null;
      if (source !== null && destination !== null) pairs.push([source, destination]);
    }
    return pairs;
  }

  /** Matches pairs of the same name that are similar enough. A file's first pair wins.
   * @returns false when there is too much to read */
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

  /** Matches the most similar files.
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

  /** The changes, with each match in place of its two files. */
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

/** Deleted files of one content, of which each is taken once. */
class EqualSources {
  readonly #sources: readonly Candidate[];
  readonly #taken = new Set<Candidate>();
  /** All before this one are taken. */
  #from = 0;

  constructor(sources: readonly Candidate[]) {
    this.#sources = sources;
  }

  /** Takes the first of the destination's name, else the first that fits.
   * @returns undefined: none fits */
  take(destination: Candidate): Candidate | undefined {
    const chosen = this.#choose(destination);
    if (chosen !== undefined) this.#taken.add(chosen);
    while (this.#from < this.#sources.length && this.#taken.has(this.#sources[this.#from]!)) this.#from += 1;
    return chosen;
  }

  #choose(destination: Candidate): Candidate | undefined {
    let first: Candidate | undefined;
    let seen = 0;
    for (let i = this.#from; i < this.#sources.length; i++) {
      const source = this.#sources[i]!;
      if (this.#taken.has(source)) continue;
      const mayPair = isRegularFile(source) && isRegularFile(destination);
      if (!mayPair && source.version.mode !== destination.version.mode) continue;
      if (source.name === destination.name) return source;
      first ??= source;
      if (++seen > MAX_EQUAL_SOURCES) break;
    }
    return first;
  }
}

/** Candidates by name; null where several have the name. */
function uniqueByName(candidates: readonly Candidate[]): Map<string, Candidate | null> {
  const unique = new Map<string, Candidate | null>();
  for (const candidate of candidates) unique.set(candidate.name, unique.has(candidate.name) ? null : candidate);
  return unique;
}

function isRegularFile({ version }: Candidate): boolean {
  return isFileMode(version.mode);
}
