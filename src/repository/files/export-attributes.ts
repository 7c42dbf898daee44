import { type Attributes, TreeAttributes } from "../../format/attributes.ts";
import { MAX_SPARSE_FILE_BYTES } from "../../format/limits.ts";
import { isTreeMode, type TreeEntry, typeOfMode } from "../../format/tree.ts";
import type { ObjectIndex } from "../../store/object-index.ts";
import type { ObjectReader } from "../object-reader.ts";
import type { WalkBudget } from "../walk-budget.ts";

/** What is done to a file on its way out, as bits. */
export const CONVERT = {
  /** Line ends become CRLF, if it is no binary file. */
  crlf: 1,
  /** The same, unless some are so already. */
  autoCrlf: 2,
  /** `$Id$` is expanded. */
  ident: 4,
  /** It does not come, but the directory that it is in does: so it is with git. */
  omit: 8,
} as const;

/** What a commit's `.gitattributes` files say of an archive's entries.
 * @see gitattributes(5) "export-ignore", git's archive.c */
export class ExportAttributes {
  readonly #reader: ObjectReader;
  readonly #objects: ObjectIndex;
  readonly #budget: WalkBudget;
  readonly #attributes = new TreeAttributes();
  #isEmpty = true;

  /** @param budget for the patterns in the files */
  constructor(reader: ObjectReader, objects: ObjectIndex, budget: WalkBudget) {
    this.#reader = reader;
    this.#objects = objects;
    this.#budget = budget;
  }

  /** The entries of a directory without the directories that are marked `export-ignore`. Directories must be asked for before what lies in them.
   * @param directory path that ends in "/", "" for the root */
  async exported(directory: string, entries: readonly TreeEntry[]): Promise<readonly TreeEntry[]> {
    const file = entries.find(({ name, mode }) => name === ".gitattributes" && typeOfMode(mode) === "blob");
    if (file !== undefined) {
      const { number, size } = this.#objects.find(file.oid)!;
      // No line that counts is lost: git's own limit is higher, but nobody writes so many.
      if (size <= MAX_SPARSE_FILE_BYTES) {
        this.#attributes.add(directory, (await this.#reader.read(number)).bytes);
        this.#isEmpty = false;
      }
    }
    if (this.#isEmpty) return entries;
    return entries.filter(
      ({ name, mode }) => !isTreeMode(mode) || !isIgnored(this.#attributes.of(directory + name, true, this.#budget)),
    );
  }

  /** What is done to a file, or gitlink: bits of `CONVERT`. */
  conversionOf(path: string, mode: number): number {
    if (this.#isEmpty || isTreeMode(mode)) return 0;
    const attributes = this.#attributes.of(path, typeOfMode(mode) === "commit", this.#budget);
    if (isIgnored(attributes)) return CONVERT.omit;
    return lineEndsOf(attributes) | (attributes.get("ident") === true ? CONVERT.ident : 0);
  }
}

function isIgnored(attributes: Attributes): boolean {
  return attributes.get("export-ignore") === true;
}

/** @see git's convert.c: convert_attrs() */
function lineEndsOf(attributes: Attributes): number {
  const text = attributes.get("text") ?? attributes.get("crlf");
  if (attributes.get("eol") !== "crlf" || text === false || text === "input") return 0;
  return text === "auto" ? CONVERT.autoCrlf : CONVERT.crlf;
}
