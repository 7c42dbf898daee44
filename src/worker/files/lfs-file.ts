import { decodeText } from "../../base/format/byte-string.ts";
import type { ByteRange } from "../../base/format/byte-range.ts";
import { GitError } from "../../base/format/errors.ts";
import { newChunkCounters } from "../../base/chunks/chunk-store.ts";
import type { NamedLfsObject, StoredLfsObject } from "../../contract/lfs.ts";
import type { Reading } from "./reading.ts";

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
