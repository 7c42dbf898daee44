import { MULTIPART_PART_BYTES } from "../format/limits.ts";
import { type SizedStream, wrongLength } from "./chunk-store.ts";
import type { R2MultipartWrite } from "./r2-multipart.ts";

/** Writes an object that is larger than the bucket takes in one request, as its bytes arrive: one
 * part after the other, `MULTIPART_PART_BYTES` of memory. A stream that fails, or has another
 * length, leaves nothing readable.
 * @param write the whole object's, just begun
 * @returns the object's ETag
 * @throws GitError "storage-failed", and the stream's error */
export async function putInParts(
  key: string,
  { stream, sizeBytes }: SizedStream,
  write: R2MultipartWrite,
): Promise<string> {
  const reader = stream.getReader();
  try {
    let part = new Uint8Array(MULTIPART_PART_BYTES);
    let [filled, parts, seen] = [0, 0, 0];
    const put = async (): Promise<void> => {
      await write.putPart(++parts, part.subarray(0, filled));
      // The bucket may still read what it was given.
      part = new Uint8Array(MULTIPART_PART_BYTES);
      filled = 0;
    };
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      seen += next.value.length;
      if (seen > sizeBytes) break;
      for (let at = 0; at < next.value.length;) {
        const taken = next.value.subarray(at, at + part.length - filled);
        part.set(taken, filled);
        filled += taken.length;
        at += taken.length;
        if (filled === part.length) await put();
      }
    }
    if (seen !== sizeBytes) throw wrongLength(key, sizeBytes, seen);
    if (filled > 0) await put();
    return (await write.complete()).etag;
  } catch (error) {
    // Whatever cannot be stopped ends by itself, and names nothing.
    await reader.cancel(error).catch(() => undefined);
    await write.abort().catch(() => undefined);
    throw error;
  }
}
