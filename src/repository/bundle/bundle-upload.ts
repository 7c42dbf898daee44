import { type BundleHeader, checkBundleSignature, decodeBundleHeader } from "../../format/bundle.ts";
import { checkLimit } from "../../format/limits.ts";
import { PacedBody } from "../pacing/paced-body.ts";

const LF = 10;

/** A bundle that a client sends. */
export interface BundleUpload {
  readonly header: BundleHeader;
  /** Everything after the header, as it arrives. */
  readonly pack: ReadableStream<Uint8Array>;
}

/** Reads a bundle up to its pack.
 * @param body a byte stream
 * @param limitBytes cap on the header
 * @throws GitError "invalid" when this is not a readable bundle, "too-large", and as
 * `PacedBody.read` */
export async function openBundle(body: ReadableStream<Uint8Array>, limitBytes: number): Promise<BundleUpload> {
  const paced = new PacedBody(body);
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let piece = await paced.read(); piece !== null; piece = await paced.read()) {
    // The first piece has a thousand bytes unless the body is shorter, so anything but a bundle is
    // rejected at once.
    if (sizeBytes === 0) checkBundleSignature(piece);
    const isWhole = hasEmptyLine(piece, pieces.at(-1)?.at(-1) === LF);
    pieces.push(piece);
    sizeBytes += piece.length;
    if (isWhole) break;
    checkLimit("the bundle's header (bytes)", limitBytes, sizeBytes);
  }
  const bytes = Buffer.concat(pieces);
  const { header, packOffset } = decodeBundleHeader(bytes);
  const rest = bytes.subarray(packOffset);
  const pack = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (rest.length > 0) controller.enqueue(rest);
    },
    pull: async (controller) => {
      const piece = await paced.read();
      if (piece === null) controller.close();
      else controller.enqueue(piece);
    },
    cancel: (reason) => paced.cancel(reason),
  });
  return { header, pack };
}

/** @param isAfterLine whether the previous piece ended a line */
function hasEmptyLine(piece: Uint8Array, isAfterLine: boolean): boolean {
  return (isAfterLine && piece[0] === LF) || Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes("\n\n");
}
