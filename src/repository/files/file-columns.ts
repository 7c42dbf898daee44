import type { Column } from "../../format/kinds.ts";
import type { ObjectNumber } from "../../store/numbers/kinds.ts";
import { concatOids } from "../../format/oid.ts";
import { typeOfMode } from "../../format/tree.ts";
import type { ObjectIndex } from "../../store/index/object-index.ts";
import type { TreeFile } from "./tree-files.ts";

/** Entries of trees with data from their rows, one array per column: the form in which the object
 * sends them to the Worker. */
export interface FileColumns {
  /** Byte strings. */
  readonly paths: string[];
  readonly modes: Uint32Array;
  /** Packed ids. */
  readonly oids: Uint8Array;
  /** Object numbers, 0 for a gitlink. */
  readonly numbers: Column<ObjectNumber>;
  /** Bytes, 0 for a gitlink. */
  readonly sizes: Float64Array;
}

/** Looks up all entries at once. */
export function toFileColumns(objects: ObjectIndex, files: readonly TreeFile[]): FileColumns {
  const oids = concatOids(files.map(({ oid }) => oid));
  const { number, size } = objects.lookupMany(oids);
  files.forEach(({ mode }, i) => {
    if (typeOfMode(mode) !== "commit") return;
    // The commit of a gitlink may exist here by chance, but is not part of the tree.
    number[i] = 0;
    size[i] = 0;
  });
  return {
    paths: files.map(({ path }) => path),
    modes: Uint32Array.from(files, ({ mode }) => mode),
    oids,
    numbers: number,
    sizes: size,
  };
}
