// An archive of a commit's files, made in the Worker while it is sent.
import { decodeText, encodeText } from "../../base/format/byte-string.ts";
import { encodeTarEnd, encodeTarEntry, encodeTarPadding, encodeTarStart } from "../../base/format/tar.ts";
import { SYMLINK_MODE, isTreeMode } from "../../base/format/tree.ts";
import { GitError } from "../../base/format/errors.ts";
import { type Archive, openArchive } from "./archive.ts";
import { MAX_ARCHIVE_STEPS, MAX_WALK_STEPS } from "../../base/format/limits.ts";
import { StepBudget } from "../../base/format/step-budget.ts";
import { BlobReader, type Reading } from "./blob-reader.ts";
import { compressedPieces, zipArchive } from "./zip-archive.ts";
import { CONVERT, type FilesPlan, WINDOW_STEPS } from "../../contract/files.ts";
import { streamPieces } from "../../base/bytes/piece-stream.ts";
import { readPlanned } from "./planned-files.ts";
import { pause } from "../../base/pacing/time-slice.ts";
import type { RepositoryClient } from "../../contract/calls.ts";

/** The media type of each format. */
export const ARCHIVE_TYPES = {
  "tar.gz": "application/gzip",
  tar: "application/x-tar",
  zip: "application/zip",
} as const;

type ArchiveFormat = keyof typeof ARCHIVE_TYPES;

const FORMATS = ["tar.gz", "tar", "zip"] as const satisfies ArchiveFormat[];

/** Pause after a slow or empty read, doubled each time, in ms. A client that has disconnected is
 * noticed only when a byte cannot be sent to it, and for a long time there may be none to send. */
const REST_MS = 100;
const MAX_REST_MS = 10_000;

/** The content of an archive. Byte strings. */
interface ArchiveRequest {
  /** A revision. */
  readonly ref: string;
  /** The only file or directory to include; "": all. */
  readonly path: string;
  /** Prepended to every path. */
  readonly prefix: string;
  /** Whether pointer files of Git LFS are replaced by the content of their objects. */
  readonly lfs: boolean;
}

/** A planned archive. */
interface SentArchive {
  /** Hex. */
  readonly commit: string;
  /** @throws GitError before the first byte, if the fault shows by then */
  open(format: ArchiveFormat): Promise<ReadableStream<Uint8Array>>;
}

/** Splits an archive's name into revision and format.
 * @param name byte string
 * @throws GitError "not-found" unless the name ends with a format's extension */
export function splitArchiveName(name: string): { ref: string; format: ArchiveFormat } {
  const format = FORMATS.find((one) => name.endsWith(`.${one}`));
  if (format === undefined) {
    throw new GitError("not-found", { what: "archive", reason: "its name must end in .tar, .tar.gz or .zip" });
  }
  return { ref: name.slice(0, -format.length - 1), format };
}

/** The file name under which an archive is saved, without extension: a byte string without slashes
 * and without the ref's prefix.
 * @param repository its name
 * @param ref byte string */
export function nameArchive(repository: string, ref: string): string {
  return encodeText(
    `${repository.replace(/\.git$/, "")}-${decodeText(ref.replace(/^refs\/(?:heads|tags)\//, "")).replaceAll("/", "-")}`,
  );
}

/** Plans an archive.
 * @throws GitError "not-found" for the path, and as `planFiles` */
export async function planArchive(
  repository: RepositoryClient,
  { ref, path, prefix, lfs }: ArchiveRequest,
  reading: Reading,
): Promise<SentArchive> {
  const plan = (revision: string, after: string, steps: number): Promise<FilesPlan> =>
    repository.planFiles({ ref: revision, after, path, globs: [], purpose: "archive", lfs, steps });
  const first = await plan(ref, "", MAX_WALK_STEPS);
  if (path !== "" && first.files.paths.length === 0) throw new GitError("not-found", { what: "path" });
  const open = async (format: ArchiveFormat): Promise<ReadableStream<Uint8Array>> => {
    const reader = new BlobReader(reading, "archive");
    const budget = new StepBudget(MAX_ARCHIVE_STEPS, "an archive's paths (steps)");
    budget.spend(first.steps);
    let isOpen = false;
    let restMs = REST_MS;
    const planNext = async (after: string): Promise<FilesPlan> => {
      const window = await plan(first.commit, after, isOpen ? MAX_WALK_STEPS : MAX_WALK_STEPS - budget.spent);
      budget.spend(window.steps);
      restMs = isOpen && isDear(window) ? Math.min(MAX_REST_MS, restMs * 2) : REST_MS;
      if (restMs > REST_MS) await pause(restMs);
      return window;
    };
    const files = readPlanned(first, planNext, reader);
    const archive = await openArchive({ ...first, prefix, files, openLfs: (object) => reader.openLfs(object) });
    isOpen = true;
    return makeBody(archive, format, reader);
  };
  return { commit: first.commit, open };
}

function isDear({ files, conversions, steps }: FilesPlan): boolean {
  return (
    steps > WINDOW_STEPS || files.modes.every((mode, i) => isTreeMode(mode) || (conversions[i]! & CONVERT.omit) !== 0)
  );
}

function makeBody(archive: Archive, format: ArchiveFormat, reader: BlobReader): ReadableStream<Uint8Array> {
  const finish = (sentBytes: number, complete: boolean): void => {
    reader.sent(sentBytes);
    reader.finish(complete);
  };
  if (format === "zip") return streamPieces(zipArchive(archive), finish);
  const tar = tarArchive(archive);
  return streamPieces(format === "tar.gz" ? compressedPieces(tar, "gzip")[Symbol.asyncIterator]() : tar, finish);
}

/** Makes a tar with the same bytes as `git archive`. Pieces have any size and must not be changed.
 * @throws GitError as reading the files; the output is then incomplete
 * @see git-archive(1) */
async function* tarArchive({ commit, timeSeconds, entries }: Archive): AsyncGenerator<Uint8Array, void, void> {
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
