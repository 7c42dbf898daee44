import { createHash } from "node:crypto";
import { GitError } from "../format/errors.ts";
import { PART_WAIT_MS } from "../format/limits.ts";
import { PacedBody } from "../pacing/paced-body.ts";
import { TimeSlice } from "../pacing/time-slice.ts";
import { freeBytes } from "./held-bytes.ts";

/** Size and checksum that the client announced. */
interface AnnouncedBytes {
  readonly sizeBytes: number;
  /** SHA-256, hex. */
  readonly checksum: string;
}

/** The kind of thing that is stored: its name in errors, and the time that its bytes may take to
 * arrive (ms). */
interface SentThing {
  readonly what: string;
  readonly waitMs: number;
}

const PART: SentThing = { what: "part", waitMs: PART_WAIT_MS };

/** Stores a stream of `sizeBytes`, which may take `waitMs` to arrive. A failed call leaves
 * nothing readable. A piece is valid until the request after the next one. */
export type PutBytes<Stored> = (
  bytes: ReadableStream<Uint8Array>,
  sizeBytes: number,
  waitMs: number,
) => Promise<Stored>;

/** Stores a part, or another body of known size and checksum, as it arrives. Bytes with another
 * checksum, or a truncated body, leave nothing readable.
 * @param body a byte stream; null: empty
 * @returns the result of `put`
 * @throws GitError "invalid" when the body differs from the announced one; also errors of
 *   `put` and of `PacedBody.read` */
export async function storePart<Stored>(
  put: PutBytes<Stored>,
  body: ReadableStream<Uint8Array> | null,
  part: AnnouncedBytes,
  { what, waitMs }: SentThing = PART,
): Promise<Stored> {
  const paced = new PacedBody(body ?? emptyStream());
  let failure: unknown = null;
  const pieces = readPieces(paced, part, what);
  // Time slice, because other parts arrive at the same time.
  const slice = new TimeSlice();
  /** The last two pieces passed on. A request for the next piece means that the first of them
   * was taken. */
  const given: Uint8Array[] = [];
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    try {
      await slice.pause();
      if (given.length === 2) freeBytes(given.shift()!);
      const { value, done } = await pieces.next();
      if (done === true) return controller.close();
      given.push(value);
      controller.enqueue(value);
    } catch (error) {
      controller.error((failure = error));
    }
  };
  const cancel = (reason: unknown): Promise<void> => paced.cancel(reason);
  const stream = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
  try {
    return await put(stream, part.sizeBytes, waitMs);
  } catch (error) {
    // A store reports only that its stream has failed.
    throw failure ?? error;
  }
}

async function* readPieces(
  body: PacedBody,
  { sizeBytes, checksum }: AnnouncedBytes,
  what: string,
): AsyncGenerator<Uint8Array, void, void> {
  const hash = createHash("sha256");
  let readBytes = 0;
  let held: Uint8Array | null = null;
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    // The last piece is passed on only after the checksum was verified, because the object is
    // complete with it.
    if (held !== null) yield held;
    hash.update(piece);
    held = piece;
    readBytes += piece.length;
    if (readBytes > sizeBytes) break;
  }
  if (readBytes !== sizeBytes)
    throw invalid(what, `it has ${readBytes > sizeBytes ? "more" : readBytes} bytes, not ${sizeBytes}`);
  const actual = hash.digest("hex");
  if (actual !== checksum) throw invalid(what, `its SHA-256 is ${actual}, not ${checksum}; send it again`);
  if (held !== null) yield held;
}

function invalid(what: string, reason: string): GitError {
  return new GitError("invalid", { what, reason });
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.close();
    },
  });
}
