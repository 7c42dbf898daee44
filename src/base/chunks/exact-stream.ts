/** Bytes requested from the source at once: below 64 KiB, the overhead of each read exceeds the
 * cost of its bytes. */
const READ_BYTES = 256 * 1024;

/** Forwards a byte stream, and errors if the source ends early, is too long, or fails.
 * @param source a byte stream
 * @param length bytes that the source must have
 * @param failure makes the error, given the bytes seen and, if the source failed, its error */
export function exactStream(
  source: ReadableStream<Uint8Array>,
  length: number,
  failure: (actual: number, cause?: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = source.getReader({ mode: "byob" });
  let seen = 0;
  async function pull(controller: ReadableByteStreamController): Promise<void> {
    let read: ReadableStreamReadResult<Uint8Array>;
    try {
      read = await reader.readAtLeast(Math.min(READ_BYTES, Math.max(1, length - seen)), new Uint8Array(READ_BYTES));
    } catch (error) {
      throw failure(seen, error);
    }
    if (read.value !== undefined && read.value.length > 0) {
      seen += read.value.length;
      if (seen > length) {
        await reader.cancel();
        throw failure(seen);
      }
      controller.enqueue(read.value);
    }
    if (!read.done) return;
    if (seen < length) throw failure(seen);
    controller.close();
    controller.byobRequest?.respond(0);
  }
  return new ReadableStream({ type: "bytes", pull, cancel: (reason) => reader.cancel(reason) });
}
