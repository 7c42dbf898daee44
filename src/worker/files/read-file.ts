import type { ByteRange } from "../../base/format/conditional-request.ts";
import { GitError } from "../../base/format/errors.ts";
import { BlobReader, type Reading } from "./blob-reader.ts";
import type { LocatedBlob, LocatedFile } from "../../contract/files.ts";
import { streamPieces } from "../../base/bytes/piece-stream.ts";

/** Reads bytes of a file: from the materialized file if there is one, else from the blob. A large
 * blob is inflated piece by piece from its beginning to the end of the range, since deflated bytes
 * cannot be entered in the middle. Runs in the Worker.
 * @param locate asks the object for the blob, if the materialized file is missing
 * @throws GitError "storage-failed", "unavailable", "corrupt-pack" */
export async function readFile(
  file: LocatedFile,
  range: ByteRange,
  reading: Reading,
  locate: (oid: string) => Promise<LocatedBlob>,
): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const { start, length } = range;
  const reader = new BlobReader(reading, "raw");
  const onEnd = (sentBytes: number): void => {
    reader.sent(sentBytes);
    reader.finish(sentBytes === length);
  };
  const written = file.written === null ? null : await reader.openWritten(file.written, file.sizeBytes, range);
  if (written !== null) {
    onEnd(length);
    return written;
  }
  const plan = file.plan ?? (await locate(file.oid)).plan;
  const blobs = await reader.open(plan, [file.sizeBytes]);
  if (!blobs.isStreamed(0)) {
    const bytes = (await blobs.read(0)).subarray(start, start + length);
    if (reader.isHeld) return streamPieces(reader.hold(bytes), onEnd).pipeThrough(new FixedLengthStream(length));
    onEnd(length);
    return bytes;
  }
  const wrongLength = (actual: number): GitError =>
    new GitError("corrupt-pack", { reason: `blob ${file.oid} has ${actual} of ${file.sizeBytes} bytes` });
  const cut = cutStream(await blobs.stream(0), start, length, { wrongLength, onEnd });
  // Declares the length to the runtime, and so to the client.
  return cut.pipeThrough(new FixedLengthStream(length));
}

/** Hooks for the end of a cut stream. */
interface CutEnd {
  /** Returns the error for a source with too few bytes. */
  readonly wrongLength: (actual: number) => Error;
  /** Called once with the number of consumed bytes, however the stream ends. */
  readonly onEnd: (takenBytes: number) => void;
}

/** Cuts `length` bytes out of a stream, from `start` on. Earlier bytes are read and dropped, later
 * ones are not read. Pieces are made on demand; one is held. */
function cutStream(
  source: ReadableStream<Uint8Array>,
  start: number,
  length: number,
  { wrongLength, onEnd }: CutEnd,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  const end = start + length;
  let position = 0;
  let taken = 0;
  const next = async (): Promise<Uint8Array | null> => {
    while (position < end) {
      const { value } = await reader.read();
      if (value === undefined) throw wrongLength(position);
      const from = Math.max(0, start - position);
      const piece = value.subarray(from, Math.max(from, Math.min(value.length, end - position)));
      position += value.length;
      if (piece.length > 0) return piece;
    }
    return null;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = await next();
          if (piece !== null) {
            taken += piece.length;
            controller.enqueue(piece);
          }
          if (position < end) return;
          controller.close();
        } catch (error) {
          onEnd(taken);
          throw error;
        }
        onEnd(taken);
        await reader.cancel();
      },
      async cancel(reason) {
        onEnd(taken);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
