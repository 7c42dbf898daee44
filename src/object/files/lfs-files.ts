import type { Tables } from "../store/tables.ts";
import type { FileColumns, LfsFile } from "../../contract/files.ts";

/** Finds the pointers among some files, by index. */
export function findLfsFiles({ lfs }: Tables, { numbers }: Pick<FileColumns, "numbers">): LfsFile[] {
  const named = lfs.namedByEach(Array.from(numbers));
  return Array.from(numbers).flatMap((number, index) => {
    const found = named.get(number);
    return found === undefined ? [] : [{ ...found, index }];
  });
}
