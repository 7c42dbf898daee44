import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import { toHex, OID_BYTES } from "../../base/format/oid.ts";
import { type BlobReader, type OpenBlobs, requireStored } from "./blob-reader.ts";
import { type FileColumns, type ArchivedCommit, type FilesPlan, isRead } from "../../contract/files.ts";

/** A file being read, or a directory or gitlink, which has no content. */
export interface PlannedFile {
  /** Byte string; a directory's ends in "/". */
  readonly path: string;
  readonly mode: number;
  /** Hex. */
  readonly oid: string;
  readonly sizeBytes: number;
  /** Bits of `CONVERT`. */
  readonly conversion: number;
  /** Values of the placeholders; null: the placeholders stay. */
  readonly subst: ArchivedCommit | null;
  /** Index among the blobs; −1: not a blob. */
  readonly blob: ObjectNumber;
  /** The blobs of the file's window. */
  readonly blobs: OpenBlobs;
  /** The LFS object that replaces the blob's content; null: the content is the blob's. */
  readonly lfs: StoredLfsObject | null;
}

/** Reads planned files window by window, in order. A window's bytes are read when its first file is
 * requested.
 * @param first the first window @param planNext requests the window after a path
 * @throws GitError as `planNext`, "storage-failed", "not-found" when a file's LFS object is
 * missing */
export async function* readPlanned(
  first: FilesPlan,
  planNext: (after: string) => Promise<FilesPlan>,
  reader: BlobReader,
): AsyncGenerator<PlannedFile, void, void> {
  for (let plan: FilesPlan | null = first; plan !== null;) {
    const { paths, modes, oids, sizes }: FileColumns = plan.files;
    const { files, conversions }: FilesPlan = plan;
    const isBlob = (i: number): boolean => isRead(files, conversions, i);
    const blobs = await reader.open(
      plan.plan,
      [...sizes].filter((_, i) => isBlob(i)),
    );
    let blob = 0;
    const lfs = new Map(plan.lfs.map((file) => [file.index, requireStored(file, paths[file.index]!)]));
    for (const [i, path] of paths.entries()) {
      yield {
        path,
        mode: modes[i]!,
        oid: toHex(oids, i * OID_BYTES),
        sizeBytes: sizes[i]!,
        conversion: conversions[i]!,
        subst: plan.subst,
        blob: isBlob(i) ? blob++ : -1,
        blobs,
        lfs: lfs.get(i) ?? null,
      };
    }
    plan = plan.more ? await planNext(paths.at(-1)!) : null;
  }
}

/** Yields a file's content piece by piece. Pieces must not be changed; each is valid only until the
 * next piece or file is requested.
 * @throws GitError "storage-failed", "corrupt-pack" */
export async function* readPieces({ blob, blobs }: PlannedFile): AsyncGenerator<Uint8Array, void, void> {
  if (blobs.isStreamed(blob)) yield* await blobs.stream(blob);
  else yield await blobs.lend(blob);
}

/** Reads a file's whole content, which is valid until the next file is requested. */
export async function readWhole({ blob, blobs, sizeBytes }: PlannedFile): Promise<Uint8Array> {
  if (!blobs.isStreamed(blob)) return blobs.lend(blob);
  const content = new Uint8Array(sizeBytes);
  let at = 0;
  for await (const piece of await blobs.stream(blob)) {
    content.set(piece, at);
    at += piece.length;
  }
  return content;
}
