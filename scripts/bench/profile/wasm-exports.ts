/** Names of functions in a WebAssembly module. */

const HEADER_BYTES = 8;
const EXPORT_SECTION = 7;
const FUNCTION_KIND = 0;

/** Lists the exported functions of a module: index to name.
 * @param bytes a valid module
 * @see https://webassembly.github.io/spec/core/binary/modules.html#export-section */
export function listExports(bytes: Uint8Array): Map<number, string> {
  const names = new Map<number, string>();
  let at = HEADER_BYTES;
  const readNumber = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = readNumber() + at;
    if (section === EXPORT_SECTION) {
      for (let count = readNumber(); count > 0; count--) {
        const length = readNumber();
        const name = new TextDecoder().decode(bytes.subarray(at, (at += length)));
        const kind = bytes[at++];
        const index = readNumber();
        if (kind === FUNCTION_KIND) names.set(index, name);
      }
    }
    at = end;
  }
  return names;
}
