/** Inputs for the codec's tests: the same in every run. */

/** Sizes around the blocks of SHA-1 and the small cases of deflate. */
export const SMALL_SIZES = Array.from({ length: 201 }, (_, size) => size);

/** Sizes for which one input each is enough. */
export const LARGE_SIZES = [1_000, 4_095, 4_096, 65_535, 65_536, 100_000, 1_200_000];

/** Incompressible bytes. */
export function noise(sizeBytes: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  let state = seed;
  for (let at = 0; at < sizeBytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Bytes that compress about as source text does. */
export function text(sizeBytes: number, seed = 1): Uint8Array {
  const words = ["const", "return", "  ", "\n", "(", ");", "state", "value", " = ", "0x", "index", "length"];
  const choices = noise(sizeBytes, seed);
  let line = "";
  for (let at = 0; line.length < sizeBytes; at++) line += words[choices[at]! % words.length];
  return new TextEncoder().encode(line.slice(0, sizeBytes));
}

/** The beginning of a text repeated with small changes, for matches of many lengths and
 * distances. */
export function repetitive(sizeBytes: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  const unit = text(977, seed);
  const changes = noise(sizeBytes, seed + 1);
  for (let at = 0; at < sizeBytes; at++) bytes[at] = changes[at]! < 3 ? changes[at]! : unit[at % unit.length]!;
  return bytes;
}

/** Divides bytes into pieces of these sizes, in turn. */
export function* cut(bytes: Uint8Array, ...sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const size = sizes[piece % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
