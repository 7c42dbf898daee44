/** Size of a write to the client: passing on small pieces costs more than making them. */
const PIECE_BYTES = 128 * 1024;

/** Time after which a partly filled buffer is sent, in ms. Only a failing write shows that the
 * client has disconnected. */
const HAND_ON_MS = 250;

/** Makes a response body from pieces of any size, which are pulled on demand. Two buffers are held.
 * @param onEnd called once with the number of bytes sent to the client, and whether these are
 *   all */
export function streamPieces(
  pieces: AsyncIterator<Uint8Array, unknown, void>,
  onEnd: (sentBytes: number, complete: boolean) => void,
): ReadableStream<Uint8Array> {
  let sentBytes = 0;
  let rest: Uint8Array = new Uint8Array(0);
  /** Fills a buffer as far as time allows. `done`: no piece is left. */
  const fill = async (): Promise<{ filled: Uint8Array; done: boolean }> => {
    const buffer = new Uint8Array(PIECE_BYTES);
    const endMs = Date.now() + HAND_ON_MS;
    for (let end = 0; ;) {
      const taken = Math.min(rest.length, buffer.length - end);
      buffer.set(rest.subarray(0, taken), end);
      rest = rest.subarray(taken);
      end += taken;
      if (end === buffer.length || (end > 0 && Date.now() > endMs))
        return { filled: buffer.subarray(0, end), done: false };
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
