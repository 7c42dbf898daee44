import { type Oid, toHex } from "../../base/format/oid.ts";
import { isFileMode } from "../../base/format/tree.ts";
import type { TreeCursor } from "../../base/format/tree-cursor.ts";
import type { OpenRepository } from "../objects/open-repository.ts";
import type { Readme } from "../../contract/pages.ts";

/** Bytes of a README that a page shows: reading Markdown of this size takes some 50 ms. */
export const MAX_README_BYTES = 128 * 1024;

const UTF_8 = new TextDecoder();

/** Names of READMEs, the best first: Markdown is shown as it is meant. */
const NAMES = [/^readme\.(?:md|markdown)$/i, /^readme$/i, /^readme\.[a-z]{2,5}$/i];

/** Bytes of the longest of them. */
const MAX_NAME_BYTES = "readme.markdown".length;

/** Finds the README among the entries of a directory. */
export class ReadmeFinder {
  /** By how good its name is, the first of each. */
  readonly #found: { readonly name: string; readonly oid: Oid }[] = [];

  /** Must be shown each entry. */
  readonly look = (cursor: TreeCursor): void => {
    if (cursor.nameBytes > MAX_NAME_BYTES || !isFileMode(cursor.mode)) return;
    const { name } = cursor;
    const rank = NAMES.findIndex((pattern) => pattern.test(name));
    if (rank >= 0) this.#found[rank] ??= { name, oid: cursor.oid.slice() };
  };

  /** Reads what was found; null: the directory has none. */
  async read(repository: OpenRepository): Promise<Readme | null> {
    const best = this.#found.find((one) => one !== undefined);
    if (best === undefined) return null;
    const { number, size } = repository.tables.objects.find(best.oid)!;
    const text = size <= MAX_README_BYTES ? UTF_8.decode((await repository.reader.read(number)).bytes) : null;
    return { name: best.name, oid: toHex(best.oid), text };
  }
}
