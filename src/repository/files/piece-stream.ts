/** Bytes that are handed on at once: small ones cost more to hand on than to make. */
const PIECE_BYTES = 128 * 1024;

/** Makes a body of pieces of any size, which are taken when the client takes the body. Two buffers are held.
 * @param onEnd told once how many bytes went to the client, and whether that is all */
export function streamPieces(
  pieces: AsyncIterator<Uint8Array, unknown, void>,
  onEnd: (sentBytes: number, complete: boolean) => void,
): ReadableStream<Uint8Array> {
  let sentBytes = 0;
  let rest: Uint8Array = new Uint8Array(0);
  /** Fills a buffer: `done` when there is nothing more. */
  const fill = async (): Promise<{ filled: Uint8Array; done: boolean }> => {
    const buffer = new Uint8Array(PIECE_BYTES);
    for (let end = 0; ;) {
      const taken = Math.min(rest.length, buffer.length - end);
      buffer.set(rest.subarray(0, taken), end);
      rest = rest.subarray(taken);
      end += taken;
      if (end === buffer.length) return { filled: buffer, done: false };
      const { value, done } = await pieces.next();
      if (done === true) return { filled: buffer.subarray(0, end), done: true };
      rest = value;
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { filled, done } = await fill();
          sentBytes += filled.length;
          if (filled.length > 0) controller.enqueue(filled);
          if (!done) return;
          controller.close();
        } catch (error) {
          onEnd(sentBytes, false);
          throw error;
        }
        onEnd(sentBytes, true);
      },
      async cancel() {
        onEnd(sentBytes, false);
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
