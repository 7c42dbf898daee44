import { toHex, OID_BYTES } from "../../format/oid.ts";
import { isFileMode } from "../../format/tree.ts";
import type { FileColumns } from "../files/file-columns.ts";
import type { OpenRepository } from "../objects/open-repository.ts";

/** Bytes of a README that a page shows: reading Markdown of this size takes some 50 ms. */
export const MAX_README_BYTES = 128 * 1024;

/** The README of a directory. */
export interface Readme {
  /** Byte string. */
  readonly name: string;
  /** Hex. */
  readonly oid: string;
  /** Null: it has more than `MAX_README_BYTES`. */
  readonly text: string | null;
}

const UTF_8 = new TextDecoder();

/** Names of READMEs, the best first: Markdown is shown as it is meant. */
const NAMES = [/^readme\.(?:md|markdown)$/i, /^readme$/i, /^readme\.[a-z]{2,5}$/i];

/** Reads the README of a directory; null: it has none. */
export async function readReadme(
  repository: OpenRepository,
  { paths, modes, oids, numbers, sizes }: FileColumns,
): Promise<Readme | null> {
  for (const pattern of NAMES) {
    const at = paths.findIndex((name, i) => pattern.test(name) && isFileMode(modes[i]!));
    if (at < 0) continue;
    const isShown = sizes[at]! <= MAX_README_BYTES;
    const text = isShown ? UTF_8.decode((await repository.reader.read(numbers[at]!)).bytes) : null;
    return { name: paths[at]!, oid: toHex(oids, at * OID_BYTES), text };
  }
  return null;
}
