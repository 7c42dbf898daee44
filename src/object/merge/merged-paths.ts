import { canonicalMode } from "../../base/format/tree.ts";
import { TreeIndex } from "../../base/format/tree-cursor.ts";
import { directoryOf, type MergedPath, nameOf, openPath } from "./merged-path.ts";

/** A directory with entries that are the same in all three trees. */
export interface KeptDirectory {
  /** The merge base's tree. */
  readonly content: Uint8Array;
  /** The names among its entries that are opened, because the three trees differ there. */
  readonly different: readonly string[];
}

/** The paths of a merge, except for those in directories that are resolved as a whole. Entries that
 * are the same in all three trees are opened only when somebody asks for them: a directory may have
 * a million. */
export class MergedPaths {
  /** Null: taken away. */
  readonly #opened = new Map<string, MergedPath | null>();
  readonly #kept = new Map<string, KeptDirectory & { index: TreeIndex | null }>();

  /** Paths that are opened. */
  get size(): number {
    return this.#opened.size;
  }

  /** Keeps a directory of which only some entries are opened. */
  keep(directory: string, kept: KeptDirectory): void {
    this.#kept.set(directory, { ...kept, index: null });
  }

  /** The directory's entries that are the same in all three trees; undefined: it has none. */
  kept(directory: string): KeptDirectory | undefined {
    return this.#kept.get(directory);
  }

  get(path: string): MergedPath | undefined {
    const opened = this.#opened.get(path) ?? (this.#opened.has(path) ? null : this.#open(path));
    return opened ?? undefined;
  }

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  set(path: string, merged: MergedPath): void {
    this.#opened.set(path, merged);
  }

  delete(path: string): void {
    this.#opened.set(path, null);
  }

  /** The paths that are opened. */
  list(): { readonly path: string; readonly merged: MergedPath }[] {
    return [...this.#opened].flatMap(([path, merged]) => (merged === null ? [] : { path, merged }));
  }

  #open(path: string): MergedPath | null {
    const kept = this.#kept.get(directoryOf(path));
    if (kept === undefined) return null;
    kept.index ??= new TreeIndex(kept.content);
    const entry = kept.index.find(nameOf(path));
    if (entry === null) return null;
    const version = { mode: canonicalMode(entry.mode), oid: entry.oid };
    const merged = openPath(path, [version, version, version]);
    this.#opened.set(path, merged);
    return merged;
  }
}
