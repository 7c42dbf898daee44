/** Lower bound of a window's bytes, and upper bound of the number of windows: a request may make
 * some thousand calls. */
const DOWNLOAD_WINDOW_BYTES = 64 * 1024 * 1024;
const MAX_WINDOWS = 500;

/** Opens a very large object that was written in parts, and requests its bytes window by window. R2
 * itself needs no windows. The local bucket keeps in memory all bytes that it has read of such an
 * object and the client has not taken yet: most of the object. No code runs per piece.
 * @param open as `ChunkStore.open` and `openFile` for the object
 * @returns null when the first window is null; a later null is an error of the stream */
export async function openInWindows<Absent extends null = never>(
  open: (offset: number, length: number) => Promise<ReadableStream<Uint8Array> | Absent>,
  offset: number,
  length: number,
): Promise<ReadableStream<Uint8Array> | Absent> {
  const windowBytes = Math.max(DOWNLOAD_WINDOW_BYTES, Math.ceil(length / MAX_WINDOWS));
  const end = offset + length;
  const openFrom = (from: number) => open(from, Math.min(windowBytes, end - from));
  // Opens the first window, because an error must be reported before any byte is sent.
  const first = await openFrom(offset);
  if (first === null) return first;
  // Tells the runtime, and so the client, the length.
  const { readable, writable } = new FixedLengthStream(length);
  const send = async (): Promise<void> => {
    await first.pipeTo(writable, { preventClose: true });
    for (let from = offset + windowBytes; from < end; from += windowBytes) {
      const next = await openFrom(from);
      if (next === null) throw new Error("the object was replaced while it was read");
      await next.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  };
  // Ignores the failure: the reader sees it, or has left.
  send().catch((error: unknown) => writable.abort(error).catch(() => undefined));
  return readable;
}
