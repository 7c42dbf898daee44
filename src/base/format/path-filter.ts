// Filters of the paths that a commit changes: its changed files and all directories that contain
// them.
//
// A filter is git's, as in its commit-graph (version 2: bytes are unsigned): a Bloom filter with
// ten bits for each path. One in a hundred unchanged paths passes it. So marks follow it: 16
// further bits of the hash of each path, which hardly any unchanged path passes. See
// gitformat-commit-graph(5), "Bloom Filter Data", and git's bloom.c.
import { MAX_FILTER_PATHS } from "./limits.ts";

const HASHES = 7;
const BITS_PER_PATH = 10;
const SEEDS = [0x293ae76f, 0x7e646e2c] as const;

/** Words of a path's hash: two, from which the seven bits are made, and the mark. */
const HASH_WORDS = 3;

/** Bytes of a mark, little-endian. */
const MARK_BYTES = 2;

/** The filter and the marks of one commit. */
export interface PathFilter {
  /** Number of changed paths; 0 also if there are too many. */
  readonly paths: number;
  /** The filter, then the marks. */
  readonly bytes: Uint8Array;
}

/** The filter of a commit that changes too much: every path may have been changed. */
export const CHANGES_ALL: PathFilter = { paths: 0, bytes: Uint8Array.of(0xff) };

/** Makes a filter.
 * @param paths byte strings: changed files and all their directories, without a slash at the
 *   end; null: there are too many */
export function makePathFilter(paths: ReadonlySet<string> | null): PathFilter {
  if (paths === null || paths.size > MAX_FILTER_PATHS) return CHANGES_ALL;
  const bytes = new Uint8Array(pathFilterBytes(paths.size));
  const bits = 8 * gitFilterBytes(paths.size);
  let markAt = gitFilterBytes(paths.size);
  for (const path of paths) {
    let hash = murmur3(path, path.length, SEEDS[0]);
    const step = murmur3(path, path.length, SEEDS[1]);
    const mark = toMark(hash, step);
    for (let k = 0; k < HASHES; k++) {
      const bit = hash % bits;
      bytes[bit >>> 3]! |= 1 << (bit & 7);
      hash = (hash + step) >>> 0;
    }
    bytes[markAt++] = mark;
    bytes[markAt++] = mark >>> 8;
  }
  return { paths: paths.size, bytes };
}

/** Bytes of git's part of a filter. */
export function gitFilterBytes(paths: number): number {
  return Math.max(1, Math.ceil((paths * BITS_PER_PATH) / 8));
}

/** Bytes of a filter and its marks. */
export function pathFilterBytes(paths: number): number {
  return gitFilterBytes(paths) + paths * MARK_BYTES;
}

/** Hashes a path and the directories that contain it, the path first. A commit that changes the
 * path has all of them in its filter.
 * @param path byte string, parts separated by "/" */
export function hashPath(path: string): Uint32Array {
  const hashes: number[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
    const [hash, step] = [murmur3(path, end, SEEDS[0]), murmur3(path, end, SEEDS[1])];
    hashes.push(hash, step, toMark(hash, step));
  }
  return Uint32Array.from(hashes);
}

/** Whether a commit may have changed a path.
 * @param bytes contain the commit's filter from `start` on
 * @param paths number of paths in the filter
 * @param hashes of the path: `hashPath` */
export function mayHavePath(bytes: Uint8Array, start: number, paths: number, hashes: Uint32Array): boolean {
  const bits = 8 * gitFilterBytes(paths);
  for (let at = 0; at < hashes.length; at += HASH_WORDS) {
    const step = hashes[at + 1]!;
    let hash = hashes[at]!;
    for (let k = 0; k < HASHES; k++) {
      const bit = hash % bits;
      if ((bytes[start + (bit >>> 3)]! & (1 << (bit & 7))) === 0) return false;
      hash = (hash + step) >>> 0;
    }
  }
  // Most calls have returned above, so the marks are checked last.
  return paths === 0 || hasMarks(bytes, start + gitFilterBytes(paths), paths, hashes);
}

function hasMarks(bytes: Uint8Array, start: number, paths: number, hashes: Uint32Array): boolean {
  const end = start + paths * MARK_BYTES;
  for (let at = 2; at < hashes.length; at += HASH_WORDS) {
    const mark = hashes[at]!;
    let one = start;
    while (one < end && (bytes[one]! | (bytes[one + 1]! << 8)) !== mark) one += MARK_BYTES;
    if (one >= end) return false;
  }
  return true;
}

function toMark(hash: number, step: number): number {
  return (hash ^ Math.imul(step, 0x9e3779b1)) >>> 16;
}

/** MurmurHash3, 32 bits, of the first `length` bytes of a byte string. */
export function murmur3(text: string, length: number, seed: number): number {
  let hash = seed;
  const whole = length & ~3;
  for (let at = 0; at < whole; at += 4) {
    const word =
      text.charCodeAt(at) |
      (text.charCodeAt(at + 1) << 8) |
      (text.charCodeAt(at + 2) << 16) |
      (text.charCodeAt(at + 3) << 24);
    hash ^= scramble(word);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = length - 1; at >= whole; at--) tail = (tail << 8) | text.charCodeAt(at);
  // Without a tail this changes nothing.
  hash ^= scramble(tail) ^ length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
