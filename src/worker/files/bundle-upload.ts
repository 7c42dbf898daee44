import { type BundleHeader, readBundleHeader } from "../../base/format/bundle.ts";
import { PacedBody } from "../../base/pacing/paced-body.ts";

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
  // The first piece has a thousand bytes unless the body is shorter, so anything but a bundle is
  // rejected at once.
  const { header, rest } = await readBundleHeader(() => paced.read(), limitBytes);
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
