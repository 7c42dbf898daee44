/** What to do when a cut stream ends. */
export interface CutEnd {
  /** The error to raise when the source has too few bytes. */
  readonly wrongLength: (actual: number) => Error;
  /** Called once with the number of bytes consumed, however the stream ended. */
  readonly onEnd: (takenBytes: number) => void;
}

/** The bytes of a stream from `start` on, `length` of them. Earlier bytes are read and dropped,
 * later ones are not read. Pieces are made on demand; one is held. */
export function cutStream(
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
