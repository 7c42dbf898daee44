import { encodeTarEnd, encodeTarEntry, encodeTarPadding, encodeTarStart } from "../../base/format/tar.ts";
import { SYMLINK_MODE } from "../../base/format/tree.ts";
import type { Archive } from "./archive.ts";

/** Makes a tar, byte for byte that of `git archive`. Pieces have any size and must not be changed.
 * @throws GitError as reading the files does; the output is then incomplete
 * @see git-archive(1) */
export async function* tarArchive({ commit, timeSeconds, entries }: Archive): AsyncGenerator<Uint8Array, void, void> {
  let sizeBytes = 0;
  const counted = (piece: Uint8Array): Uint8Array => {
    sizeBytes += piece.length;
    return piece;
  };
  yield counted(encodeTarStart(commit, timeSeconds));
  for await (const entry of entries) {
    yield counted(encodeTarEntry(entry, timeSeconds));
    if (entry.mode === SYMLINK_MODE) continue;
    for await (const piece of entry.content) yield counted(piece);
    yield counted(encodeTarPadding(entry.sizeBytes));
  }
  yield encodeTarEnd(sizeBytes);
}
