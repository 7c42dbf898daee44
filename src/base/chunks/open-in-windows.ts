/** Bytes of a window, at least, and how many there are at most: a request may make some thousand
 * calls. */
const DOWNLOAD_WINDOW_BYTES = 64 * 1024 * 1024;
const MAX_WINDOWS = 500;

/** Opens an object that is written in parts and very large: its bytes are asked for window by
 * window. R2 would send all at once just as well; the local one keeps in memory what it has read of
 * such an object and the client has not taken yet, which is most of it. No code runs per piece.
 * @param open as `ChunkStore.open` and `openFile` do for the object
 * @returns null when the first window is null; a later one is an error of the stream */
export async function openInWindows<Absent extends null = never>(
  open: (offset: number, length: number) => Promise<ReadableStream<Uint8Array> | Absent>,
  offset: number,
  length: number,
): Promise<ReadableStream<Uint8Array> | Absent> {
  const windowBytes = Math.max(DOWNLOAD_WINDOW_BYTES, Math.ceil(length / MAX_WINDOWS));
  const end = offset + length;
  const openFrom = (from: number) => open(from, Math.min(windowBytes, end - from));
  // What cannot be opened is told before anything is sent.
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
  // The reader sees the failure, or is gone.
  send().catch((error: unknown) => writable.abort(error).catch(() => undefined));
  return readable;
}
