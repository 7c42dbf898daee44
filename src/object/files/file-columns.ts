import type { Tables } from "../store/tables.ts";
import { concatOids } from "../../base/format/oid.ts";
import type { FileColumns, LfsFile } from "../../contract/files.ts";
import { typeOfMode } from "../../base/format/tree.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { TreeFile } from "./tree-files.ts";

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

/** Finds the pointers among some files, by index. */
export function findLfsFiles({ lfs }: Tables, { numbers }: Pick<FileColumns, "numbers">): LfsFile[] {
  const named = lfs.namedByEach(Array.from(numbers));
  return Array.from(numbers).flatMap((number, index) => {
    const found = named.get(number);
    return found === undefined ? [] : [{ ...found, index }];
  });
}
