/** Files of worktrees, for tests of their tables. */
import type { FileChange, PendingFile, WrittenFile } from "../../../../src/object/store/jobs/worktree-table.ts";

/** The id of the object with a number. */
export function oidOf(number: number): Uint8Array {
  const oid = new Uint8Array(20);
  new DataView(oid.buffer).setUint32(0, number);
  return oid;
}

/** A file that is there from now on. Blobs have as many bytes as their number. */
export function put(path: string, source: number, mode = 0o100644): FileChange {
  return { path, file: { source, mode, oid: oidOf(source), sizeBytes: source } };
}

/** A file that is removed. */
export function remove(path: string): FileChange {
  return { path, file: null };
}

/** A file that was written to R2. */
export function write(file: PendingFile): WrittenFile {
  return { ...file, etag: `tag ${file.path}` };
}
