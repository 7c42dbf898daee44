/** Frees the buffer of bytes that nobody refers to any more, at once. Dropped, it would stand until
 * garbage is collected, and V8 lets hundreds of megabytes of buffers pile up before that.
 * @param bytes and all else in their buffer are empty from now on */
export function freeBytes(bytes: Uint8Array): void {
  (bytes.buffer as ArrayBuffer).transfer(0);
}
