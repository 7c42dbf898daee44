import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import { type AttributeFile, type Attributes, parseAttributes, TreeAttributes } from "../../base/format/attributes.ts";
import { checkLimit, MAX_ATTRIBUTE_BYTES, MAX_SPARSE_FILE_BYTES } from "../../base/format/limits.ts";
import { isFileMode, isTreeMode, typeOfMode } from "../../base/format/tree.ts";
import { findTreeEntry } from "../../base/format/tree-splice.ts";
import type { ObjectIndex } from "../store/index/object-index.ts";
import type { ObjectReader } from "../objects/object-reader.ts";
import { STEPS_PER_ATTRIBUTE_BYTE, type WalkBudget } from "../../base/pacing/walk-budget.ts";
import { CONVERT } from "../../contract/files.ts";

/** A `.gitattributes` file in memory. */
interface ReadFile extends AttributeFile {
  /** Object number. */
  readonly number: ObjectNumber;
  readonly sizeBytes: number;
  /** How many directories on the current path have this file. */
  directories: number;
}

/** What a commit's `.gitattributes` files say about an archive's entries, which must be queried in
 * the order of their paths.
 * @see gitattributes(5) "export-ignore", git's archive.c */
export class ExportAttributes {
  readonly #reader: ObjectReader;
  readonly #objects: ObjectIndex;
  readonly #budget: WalkBudget;
  readonly #attributes = new TreeAttributes();
  /** The files in effect, by number. One file in several directories occurs once. */
  readonly #files = new Map<ObjectNumber, ReadFile>();
  #heldBytes = 0;

  /** @param budget for the files and their patterns */
  constructor(reader: ObjectReader, objects: ObjectIndex, budget: WalkBudget) {
    this.#reader = reader;
    this.#objects = objects;
    this.#budget = budget;
  }

  /** Takes in the `.gitattributes` of a directory, before anything in it is asked about.
   * @param directory path that ends in "/", "" for the root
   * @param content of its tree
   * @throws GitError "too-large" */
  async enter(directory: string, content: Uint8Array): Promise<void> {
    const file = findTreeEntry(content, ".gitattributes");
    if (file === null || typeOfMode(file.mode) !== "blob") return;
    const { number, size } = this.#objects.find(file.oid)!;
    // A larger file is ignored. Git's own limit is higher, but no real file is so large.
    if (size <= MAX_SPARSE_FILE_BYTES) await this.#add(directory, number, size);
  }

  /** Whether a directory is marked `export-ignore`.
   * @throws GitError "too-large" */
  isLeftOut(directory: string): boolean {
    return this.#files.size > 0 && isIgnored(this.#attributes.of(directory, true, this.#budget));
  }

  async #add(directory: string, number: ObjectNumber, sizeBytes: number): Promise<void> {
    let file = this.#files.get(number);
    if (file === undefined) {
      this.#budget.spend(sizeBytes * STEPS_PER_ATTRIBUTE_BYTE);
      file = { ...parseAttributes((await this.#reader.read(number)).bytes), number, sizeBytes, directories: 0 };
      this.#files.set(number, file);
      this.#heldBytes += sizeBytes;
    }
    file.directories += 1;
    for (const forgotten of this.#attributes.add(directory, file) as ReadFile[]) {
      forgotten.directories -= 1;
      if (forgotten.directories > 0) continue;
      this.#files.delete(forgotten.number);
      this.#heldBytes -= forgotten.sizeBytes;
    }
    checkLimit("the .gitattributes of a path (bytes)", MAX_ATTRIBUTE_BYTES, this.#heldBytes);
  }

  /** How to change a file or gitlink: bits of `CONVERT`. */
  conversionOf(path: string, mode: number): number {
    if (this.#files.size === 0 || isTreeMode(mode)) return 0;
    const attributes = this.#attributes.of(path, typeOfMode(mode) === "commit", this.#budget);
    if (isIgnored(attributes)) return CONVERT.omit;
    const isExpanded = attributes.get("export-subst") === true && isFileMode(mode);
    const ident = attributes.get("ident") === true ? CONVERT.ident : 0;
    return lineEndsOf(attributes) | ident | (isExpanded ? CONVERT.subst : 0);
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
