import { concatOids } from "../../base/format/oid.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { TreeFile } from "./tree-files.ts";
import type { FileColumns } from "../../contract/files.ts";

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
