import type { ChunkStore } from "./chunk-store.ts";

/** Bytes of a window, at least, and how many there are at most: a request may make some thousand
 * calls. */
const DOWNLOAD_WINDOW_BYTES = 64 * 1024 * 1024;
const MAX_WINDOWS = 500;

/** Like `ChunkStore.open`, for an object that is written in parts and very large: its bytes are
 * asked for window by window. R2 would send all at once just as well; the local one keeps in memory
 * what it has read of such an object and the client has not taken yet, which is most of it. No code
 * runs per piece here either. */
export async function openInWindows(
  store: ChunkStore,
  key: string,
  offset: number,
  length: number,
): Promise<ReadableStream<Uint8Array>> {
  const windowBytes = Math.max(DOWNLOAD_WINDOW_BYTES, Math.ceil(length / MAX_WINDOWS));
  const end = offset + length;
  const open = (from: number): Promise<ReadableStream<Uint8Array>> =>
    store.open(key, from, Math.min(windowBytes, end - from));
  // What cannot be opened is told before anything is sent.
  const first = await open(offset);
  const { readable, writable } = new IdentityTransformStream();
  const send = async (): Promise<void> => {
    await first.pipeTo(writable, { preventClose: true });
    for (let from = offset + windowBytes; from < end; from += windowBytes)
      await (await open(from)).pipeTo(writable, { preventClose: true });
    await writable.close();
  };
  // The reader sees the failure, or is gone.
  send().catch((error: unknown) => writable.abort(error).catch(() => undefined));
  return readable;
}
