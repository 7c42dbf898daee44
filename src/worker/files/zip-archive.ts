import { pipeline, Readable } from "node:stream";
import { crc32, deflateRawSync, constants, createDeflateRaw, createGzip } from "node:zlib";
import { STREAM_THRESHOLD_BYTES } from "../../base/format/limits.ts";
import { isDirectory } from "../../base/format/tar.ts";
import { isExecutable, SYMLINK_MODE } from "../../base/format/tree.ts";
import {
  encodeZipDescriptor,
  encodeZipDirectoryEntry,
  encodeZipEnd,
  encodeZipHeader,
  type ZipEntry,
} from "../../base/format/zip.ts";
import type { Archive, ArchiveEntry } from "./archive.ts";

/** Types and permissions of entries, as in a tar. */
const MODE = { directory: 0o40775, link: 0o120777, executable: 0o100775, file: 0o100664 };

/** Entries of the ZIP's directory that are joined into one buffer: a separate buffer costs more
 * than the entry. */
const ENTRIES_PER_BLOCK = 1_000;

/** Makes a ZIP with the entries that `git archive` puts into one. Its comment is the commit's id.
 * Memory grows with the number of entries, whose directory is at the end: about 100 bytes plus the
 * path for each.
 * @throws GitError as reading the files; the output is then incomplete
 * @see git-archive(1), APPNOTE.TXT */
export async function* zipArchive(archive: Archive): AsyncGenerator<Uint8Array, void, void> {
  const directory: Uint8Array[] = [];
  let open: Uint8Array[] = [];
  let count = 0;
  let position = 0;
  const counted = (piece: Uint8Array): Uint8Array => {
    position += piece.length;
    return piece;
  };
  for await (const file of archive.entries) {
    const start = position;
    const pieces = file.sizeBytes > STREAM_THRESHOLD_BYTES ? streamEntry(file, archive) : wholeEntry(file, archive);
    let step = await pieces.next();
    for (; step.done !== true; step = await pieces.next()) yield counted(step.value);
    open.push(encodeZipDirectoryEntry(step.value, start));
    count += 1;
    if (open.length < ENTRIES_PER_BLOCK) continue;
    directory.push(Buffer.concat(open));
    open = [];
  }
  const start = position;
  for (const block of [...directory, ...open]) yield counted(block);
  yield encodeZipEnd(count, start, position - start, archive.commit);
}

/** Makes an entry from the whole file: its header states its sizes. @returns the entry */
async function* wholeEntry(file: ArchiveEntry, { timeSeconds }: Archive): AsyncGenerator<Uint8Array, ZipEntry, void> {
  const content = await readAll(file);
  const deflated = content.length === 0 ? content : deflateRawSync(content);
  const isDeflated = deflated.length < content.length;
  const stored = isDeflated ? deflated : content;
  const entry = {
    path: file.path,
    mode: modeOf(file),
    timeSeconds,
    isDeflated,
    isStreamed: false,
    sizeBytes: content.length,
    storedBytes: stored.length,
    crc32: crc32(content),
  };
  yield encodeZipHeader(entry);
  yield stored;
  return entry;
}

/** Reads a file's content. A single piece is not copied. */
async function readAll({ content, sizeBytes }: ArchiveEntry): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) {
    if (piece.length === sizeBytes) return piece;
    pieces.push(piece.slice());
  }
  return Buffer.concat(pieces);
}

/** Makes an entry piece by piece: sizes and checksum follow the content. @returns the entry */
async function* streamEntry(file: ArchiveEntry, { timeSeconds }: Archive): AsyncGenerator<Uint8Array, ZipEntry, void> {
  const { path, sizeBytes } = file;
  const stated = { path, mode: modeOf(file), timeSeconds, isDeflated: true, isStreamed: true, sizeBytes };
  yield encodeZipHeader({ ...stated, storedBytes: 0, crc32: 0 });
  let checksum = 0;
  let storedBytes = 0;
  const seen = see(file.content, (piece) => {
    checksum = crc32(piece, checksum);
  });
  for await (const piece of compressedPieces(seen, "deflate-raw")) {
    storedBytes += piece.length;
    yield piece;
  }
  const entry = { ...stated, storedBytes, crc32: checksum };
  yield encodeZipDescriptor(entry);
  return entry;
}

function modeOf({ mode }: ArchiveEntry): number {
  if (isDirectory(mode)) return MODE.directory;
  if (mode === SYMLINK_MODE) return MODE.link;
  return isExecutable(mode) ? MODE.executable : MODE.file;
}

/** Yields the same pieces, and passes each to `show`. */
async function* see(
  pieces: ArchiveEntry["content"],
  show: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of pieces) {
    show(piece);
    yield piece;
  }
}

/** Bytes produced at a time. */
const PIECE_BYTES = 64 * 1024;

const MAKERS = { gzip: createGzip, "deflate-raw": createDeflateRaw };

/** Input bytes after which the output so far is flushed. A disconnected client is noticed only when
 * a write fails, and highly compressible input would produce no output for a long time. */
const FLUSH_BYTES = 4 * 1024 * 1024;

/** Pieces read ahead: each may have a megabyte. */
const PIECES_AHEAD = 1;

/** Compresses pieces on demand. CompressionStream would accept all its input and buffer the output
 * without limit.
 * @throws any error of reading the pieces */
export function compressedPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  format: keyof typeof MAKERS,
): AsyncIterable<Uint8Array> {
  const compressor = MAKERS[format]({ chunkSize: PIECE_BYTES });
  const copies = async function* (): AsyncGenerator<Uint8Array, void, void> {
    let unflushedBytes = 0;
    for await (const piece of pieces) {
      // A piece is valid only until the next one is requested.
      yield piece.slice();
      unflushedBytes += piece.length;
      if (unflushedBytes < FLUSH_BYTES) continue;
      unflushedBytes = 0;
      compressor.flush(constants.Z_SYNC_FLUSH);
    }
  };
  // A failure surfaces where the pieces are consumed. When the consumer stops, the source is
  // closed.
  pipeline(Readable.from(copies(), { highWaterMark: PIECES_AHEAD }), compressor, () => undefined);
  return compressor;
}
