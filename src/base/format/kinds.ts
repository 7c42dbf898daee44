// Integers of a kind: numbers that count different things and must not stand for each other. A
// plain number, from a row, a typed array or a sum, may stand for any of them; one of a kind never
// stands for one of another. So no cast is needed where numbers enter, and `tsc` refuses mix-ups on
// the way.

declare const kind: unique symbol;

/** A number of a kind. */
export type Kind<Name extends string> = number & { readonly [kind]?: Name };

/** What a column tells of its numbers, in place of what a Uint32Array does. */
type Told = number | typeof Symbol.iterator | "at" | "filter" | "forEach" | "map" | "slice" | "subarray";

/** A column of numbers of a kind: a Uint32Array, seen so. */
export interface Column<N extends number, Bytes extends ArrayBufferLike = ArrayBufferLike> extends Omit<
  Uint32Array<Bytes>,
  Told
> {
  [index: number]: N;
  [Symbol.iterator](): ArrayIterator<N>;
  at(index: number): N | undefined;
  filter(holds: (value: N, index: number, all: Uint32Array<Bytes>) => boolean): Column<N, ArrayBuffer>;
  forEach(f: (value: N, index: number, all: Uint32Array<Bytes>) => void): void;
  map(f: (value: N, index: number, all: Uint32Array<Bytes>) => number): Uint32Array<ArrayBuffer>;
  slice(start?: number, end?: number): Column<N, ArrayBuffer>;
  subarray(start?: number, end?: number): Column<N, Bytes>;
}
