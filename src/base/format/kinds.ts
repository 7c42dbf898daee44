// Number types for different kinds of things, which must not be mixed up. A plain number, from a
// row, a typed array or a sum, is assignable to all of them, but one kind is never assignable to
// another. So no cast is needed where numbers enter, and `tsc` refuses mix-ups on the way.

declare const kind: unique symbol;

/** A number of a kind. */
export type Kind<Name extends string> = number & { readonly [kind]?: Name };

/** Members of a column whose types name the kind, instead of those of Uint32Array. */
type Told = number | typeof Symbol.iterator | "at" | "filter" | "forEach" | "map" | "slice" | "subarray";

/** A Uint32Array typed as a column of numbers of a kind. */
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
