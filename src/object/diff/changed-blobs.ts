import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { fromByteString } from "../../base/format/byte-string.ts";
import { toHex } from "../../base/format/oid.ts";
import { NumberSet } from "../../base/numbers/number-set.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { TimeSlice } from "../../base/pacing/time-slice.ts";
import type { FileChange, FileVersion } from "./file-change.ts";
import type { RenameBlobs } from "./renames.ts";
import type { ChangedContent } from "./unified-patch.ts";

/** Bytes of contents held in memory at once, unless a single pair is larger. */
const BATCH_BYTES = 8 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

/** The contents of changed files. */
export class ChangedBlobs implements RenameBlobs {
  readonly #repository: OpenRepository;
  readonly #slice: TimeSlice;
  readonly #sizes = new Map<ObjectNumber, number>();

  constructor(repository: OpenRepository, slice: TimeSlice) {
    this.#repository = repository;
    this.#slice = slice;
  }

  pause(): Promise<void> {
    return this.#slice.pause();
  }

  sizes(numbers: readonly ObjectNumber[]): ReadonlyMap<ObjectNumber, number> {
    const unknown = NumberSet.fromUnsorted(numbers.filter((number) => !this.#sizes.has(number)));
    const { number, size } = this.#repository.tables.objects.locate(unknown);
    number.forEach((found, i) => this.#sizes.set(found, size[i]!));
    return this.#sizes;
  }

  async *read(numbers: readonly ObjectNumber[]): AsyncGenerator<readonly [ObjectNumber, Uint8Array], void, void> {
    for await (const [number, { bytes }] of this.#repository.reader.readEach(NumberSet.fromUnsorted(numbers))) {
      yield [number, bytes];
    }
  }

  /** The bytes to compare for each change, both sides together. */
  sizesOf(changes: readonly FileChange[]): number[] {
    const sizes = this.sizes(changes.flatMap(numbersOf));
    return changes.map((change) => numbersOf(change).reduce((sum, number) => sum + sizes.get(number)!, 0));
  }

  /** Reads the old and new contents of changed files, in the given order, a few files at a time.
   * @throws GitError "storage-failed" */
  async *readChanges(changes: readonly FileChange[]): AsyncGenerator<ChangedContent, void, void> {
    const sizes = this.sizesOf(changes);
    for (let first = 0, end: number; first < changes.length; first = end) {
      let sizeBytes = sizes[first]!;
      for (end = first + 1; end < changes.length; end++) {
        if ((sizeBytes += sizes[end]!) > BATCH_BYTES) break;
      }
      const batch = changes.slice(first, end);
      const contents = new Map(await Array.fromAsync(this.read(batch.flatMap(numbersOf))));
      for (const change of batch) {
        yield { change, old: contentOf(change.old, contents), next: contentOf(change.next, contents) };
      }
    }
  }
}

/** The blobs of a change: only one where just the name or the mode differs. */
function numbersOf({ old, next }: FileChange): number[] {
  const numbers = new Set([old?.number ?? 0, next?.number ?? 0]);
  numbers.delete(0);
  return [...numbers];
}

/** What git compares. For a gitlink this is a line that names the commit. */
function contentOf(version: FileVersion | null, contents: ReadonlyMap<ObjectNumber, Uint8Array>): Uint8Array {
  if (version === null) return NOTHING;
  if (version.number === 0) return fromByteString(`Subproject commit ${toHex(version.oid)}\n`);
  return contents.get(version.number) ?? NOTHING;
}
