import { decodeText } from "../../format/byte-string.ts";
import type { ByteRange } from "../../format/byte-range.ts";
import { GitError } from "../../format/errors.ts";
import { newChunkCounters } from "../../store/chunks/chunk-store.ts";
import type { NamedLfsObject, StoredLfsObject } from "../../store/lfs/lfs-table.ts";
import type { Tables } from "../../store/tables.ts";
import type { FileColumns } from "./file-columns.ts";
import type { Reading } from "./reading.ts";

/** A file that is a pointer of Git LFS. */
export interface LfsFile extends NamedLfsObject {
  /** Its index among the files. */
  readonly index: number;
}

/** Finds the pointers among some files, by index. */
export function findLfsFiles({ lfs }: Tables, { numbers }: Pick<FileColumns, "numbers">): LfsFile[] {
  const named = lfs.namedByEach(Array.from(numbers));
  return Array.from(numbers).flatMap((number, index) => {
    const found = named.get(number);
    return found === undefined ? [] : [{ ...found, index }];
  });
}

/** Reads bytes of an LFS object, as the bucket's own stream. Runs in the Worker.
 * @returns null: the range is empty
 * @throws GitError "storage-failed" */
export async function readLfsObject(
  { key }: StoredLfsObject,
  { start, length }: ByteRange,
  reading: Reading,
): Promise<ReadableStream<Uint8Array> | null> {
  return length === 0 ? null : reading.openChunks(newChunkCounters()).open(key, start, length);
}

/** The LFS object that a file is a pointer to, which must be there.
 * @param path byte string, of the file
 * @throws GitError "not-found" */
export function requireStored({ oid, sizeBytes, key }: NamedLfsObject, path: string): StoredLfsObject {
  if (key !== null) return { oid, sizeBytes, key };
  const reason = `${decodeText(path)} names ${oid}, which was not sent: git lfs push --all`;
  throw new GitError("not-found", { what: "LFS object", reason });
}
