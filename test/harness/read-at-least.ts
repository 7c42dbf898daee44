type Reader = Pick<ReadableStreamBYOBReader, "read"> & Partial<Pick<ReadableStreamBYOBReader, "readAtLeast">>;

/** The runtime's own extension of BYOB readers, for tests that run the project's code in Node.
 * Unlike the standard's option `min`, it returns the available bytes when a stream ends early. */
async function readAtLeast(this: Reader, min: number, view: Uint8Array): Promise<ReadableStreamReadResult<Uint8Array>> {
  const { byteOffset, byteLength } = view;
  let filled = 0;
  for (let { buffer } = view; ;) {
    const { value, done } = await this.read(new Uint8Array(buffer, byteOffset + filled, byteLength - filled));
    if (value === undefined) return { done: true };
    ({ buffer } = value);
    filled += value.length;
    if (done && filled === 0) return { done: true, value };
    if (done || filled >= min) return { done: false, value: new Uint8Array(buffer, byteOffset, filled) };
  }
}

const reader = ReadableStreamBYOBReader.prototype as Reader;
reader.readAtLeast ??= readAtLeast as NonNullable<Reader["readAtLeast"]>;
