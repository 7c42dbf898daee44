import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { type Oid, toHex } from "../../base/format/oid.ts";
import type { FileChange, FileVersion } from "../diff/file-change.ts";
import { type Candidate, type RenameBlobs, RenameSearch } from "../diff/renames.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";
import { DirectoryCounts } from "./directory-counts.ts";
import type { MergeObjects } from "./merge-objects.ts";
import { directoryOf, type Side, type Version } from "./merged-path.ts";
import type { RenameCandidates } from "./rename-candidates.ts";

/** Limits of rename detection. Beyond them a renamed file counts as deleted and added: if both
 * sides changed it, that is a conflict. `maxFiles` is git's merge.renameLimit, which is 7,000
 * there. */
const RENAME_OPTIONS = {
  maxFiles: 1_000,
  maxBlobBytes: 8 * 1024 * 1024,
  maxReadBytes: 128 * 1024 * 1024,
  matchesEmpty: false,
};

/** A file that one side renamed or added. */
export interface RenamePair {
  readonly side: Side;
  /** The old path; for an added file its path. */
  readonly from: string;
  /** The current path; directory renames change it. */
  to: string;
  readonly isRename: boolean;
}

/** The renames of one side of a merge. */
export interface SideRenames {
  /** Renamed and added files, by their current path. */
  readonly pairs: RenamePair[];
  readonly counts: DirectoryCounts;
}

/** Finds the renames of one side, as far as they matter to the merge.
 * @throws GitError "storage-failed"
 * @see detect_regular_renames() in git's merge-ort.c, diffcore_rename_extended() in its
 * diffcore-rename.c */
export async function findSideRenames(
  objects: MergeObjects,
  candidates: RenameCandidates,
  side: Side,
): Promise<SideRenames> {
  const { sources, targets, relevant, removedDirectories } = candidates;
  const counts = new DirectoryCounts(removedDirectories);
  const fromOf = new Map<string, string>();
  if (relevant.size > 0 && targets.length > 0) {
    const blobs = new CandidateBlobs(objects);
    const changes = [
      ...sources.map(({ path, version }) => newChange(path, blobs.version(version), null)),
      ...targets.map(({ path, version }) => newChange(path, null, blobs.version(version))),
    ];
    const search = new RenameSearch(changes, blobs, RENAME_OPTIONS);
    if (search.sources.length > 0 && search.destinations.length > 0) await searchSide(search, relevant, counts);
    for (const { source, destination } of search.matches) fromOf.set(destination.path, source.path);
  }
  const pairs = targets.map(({ path }) => {
    const from = fromOf.get(path);
    return { side, from: from ?? path, to: path, isRename: from !== undefined };
  });
  return { pairs, counts };
}

async function searchSide(
  search: RenameSearch,
  relevant: RenameCandidates["relevant"],
  counts: DirectoryCounts,
): Promise<void> {
  let counted = 0;
  const count = (): void => {
    for (const { source, destination } of search.matches.slice(counted)) counts.add(source.path, destination.path);
    counted = search.matches.length;
  };
  search.matchEqual();
  count();
  if (!(await search.matchPairs(pairNames(search, relevant, counts)))) return;
  count();
  search.keepSources(({ path }) => relevant.has(path));
  const matters = counts.decideEarly(search.sources.map(({ path }) => path));
  search.keepSources(({ path }) => relevant.get(path) === "content" || matters(path));
  await search.matchSimilar();
  count();
}

/** Pairs files of the same name: the only ones with that name, or in directories that seem
 * renamed. */
function pairNames(
  search: RenameSearch,
  relevant: RenameCandidates["relevant"],
  counts: DirectoryCounts,
): [Candidate, Candidate][] {
  const unique = new Map(search.pairNames());
  const destinations = new Map(search.destinations.map((destination) => [destination.path, destination]));
  const names = new Set(search.destinations.map(({ name }) => name));
  return search.sources.flatMap((source) => {
    if (!relevant.has(source.path) || !names.has(source.name)) return [];
    const guess = counts.guess(directoryOf(source.path));
    const destination =
      unique.get(source) ?? (guess === undefined ? undefined : destinations.get(`${guess}/${source.name}`));
    return destination === undefined ? [] : [[source, destination] as [Candidate, Candidate]];
  });
}

function newChange(path: string, old: FileVersion | null, next: FileVersion | null): FileChange {
  return { oldPath: path, path, old, next, similarity: null };
}

/** Numbers the candidates' blobs itself: those of virtual merge bases are not stored. */
class CandidateBlobs implements RenameBlobs {
  readonly #objects: MergeObjects;
  readonly #slice = new TimeSlice();
  readonly #oids: Oid[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(objects: MergeObjects) {
    this.#objects = objects;
  }

  version({ mode, oid }: Version): FileVersion {
    const hex = toHex(oid);
    let number = this.#numbers.get(hex);
    if (number === undefined) {
      number = this.#oids.push(oid);
      this.#numbers.set(hex, number);
    }
    return { mode, oid, number };
  }

  sizes(numbers: readonly ObjectNumber[]): Map<ObjectNumber, number> {
    const sizes = this.#objects.sizes(this.#oidsOf(numbers));
    return new Map(numbers.map((number) => [number, sizes.get(toHex(this.#oids[number - 1]!))!]));
  }

  async *read(numbers: readonly ObjectNumber[]): AsyncGenerator<[ObjectNumber, Uint8Array], void, void> {
    for await (const [hex, content] of this.#objects.readEach(this.#oidsOf(numbers)))
      yield [this.#numbers.get(hex)!, content];
  }

  pause(): Promise<void> {
    return this.#slice.pause();
  }

  #oidsOf(numbers: readonly ObjectNumber[]): Oid[] {
    return numbers.map((number) => this.#oids[number - 1]!);
  }
}
