import { OID_BYTES } from "../../../base/format/oid.ts";
import { decodeFiles, encodeFiles, REMOVED, type StoredFile } from "./worktree-records.ts";
import type { FileChange } from "./worktree-table.ts";

/** Number of changes that are encoded together. */
const SLICE_CHANGES = 4_096;

const NO_OID = new Uint8Array(OID_BYTES);

/** Changes of a worktree's files, in the order in which they were added. They are held as bytes,
 * some 30 plus the path for each, because a commit may change half a million files. */
export class FileChanges implements Iterable<FileChange> {
  readonly #slices: ArrayBuffer[] = [];
  #last: StoredFile[] = [];

  add({ path, file }: FileChange): void {
    const content = file ?? { source: REMOVED, mode: 0, oid: NO_OID, sizeBytes: 0 };
    this.#last.push({ path, ...content, etag: null });
    if (this.#last.length < SLICE_CHANGES) return;
    this.#slices.push(encodeFiles(this.#last).buffer);
    this.#last = [];
  }

  *[Symbol.iterator](): Generator<FileChange> {
    for (const slice of this.#slices) yield* decodeFiles(slice).map(toChange);
    yield* this.#last.map(toChange);
  }
}

function toChange({ path, source, mode, oid, sizeBytes }: StoredFile): FileChange {
  return { path, file: source === REMOVED ? null : { source, mode, oid, sizeBytes } };
}
