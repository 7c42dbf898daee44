import { configure, ZipWriter } from "@zip.js/zip.js/lib/zip-core-native.js";
import { decodeText, encodeText, fromByteString } from "../../format/byte-string.ts";
import { isDirectory } from "../../format/tar.ts";
import { SYMLINK_MODE } from "../../format/tree.ts";
import { type ArchiveEntry, archiveEntries, type ArchiveSource } from "./archive.ts";

// The runtime compresses by itself, and starts no workers.
configure({ useWebWorkers: false, useCompressionStream: true });

/** Permissions of entries, and what tells links from files. */
const MODE = { directory: 0o40775, link: 0o120777, executable: 0o100775, file: 0o100664 };

/** Writes a ZIP with what `git archive` puts into one; its comment is the commit's id.
 * @param to is closed at the end, and errors when something fails
 * @throws GitError as reading the files does */
export async function writeZipArchive(source: ArchiveSource, to: WritableStream<Uint8Array>): Promise<void> {
  const zip = new ZipWriter(to, {
    keepOrder: true,
    bufferedWrite: false,
    lastModDate: new Date(source.timeSeconds * 1_000),
  });
  for await (const entry of archiveEntries(source)) {
    const directory = isDirectory(entry.mode);
    const content = directory ? undefined : toStream(entry);
    await zip.add(entry.path, content, {
      // The name's bytes as they are, and a note when they are UTF-8.
      encodeText: fromByteString,
      useUnicodeFileNames: isUnicode(entry.path),
      directory,
      unixMode: modeOf(entry, directory),
      // A stream does not tell: whether the entry needs 64 bits depends on it.
      uncompressedSize: entry.sizeBytes,
    });
  }
  await zip.close(fromByteString(source.commit));
}

function modeOf({ mode }: ArchiveEntry, directory: boolean): number {
  if (directory) return MODE.directory;
  if (mode === SYMLINK_MODE) return MODE.link;
  return (mode & 0o100) === 0 ? MODE.file : MODE.executable;
}

/** Whether a byte string is UTF-8 beyond ASCII. */
function isUnicode(name: string): boolean {
  return /[^\0-\x7f]/.test(name) && encodeText(decodeText(name)) === name;
}

function toStream({ content }: ArchiveEntry): ReadableStream<Uint8Array> {
  const pieces = Symbol.asyncIterator in content ? content[Symbol.asyncIterator]() : content[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value } = await pieces.next();
      if (value === undefined) controller.close();
      else controller.enqueue(value);
    },
  });
}
