import { fromByteString } from "../../base/format/byte-string.ts";
import { isTreeMode, type TreeEntry } from "../../base/format/tree.ts";
import { TreeCursor } from "../../base/format/tree-cursor.ts";

/** Entries that are made at a time, and bytes of their names. */
const WINDOW_ENTRIES = 64;
const WINDOW_NAME_BYTES = 8 * 1024;

/** Entries that are passed between two pauses. */
const ENTRIES_PER_PAUSE = 256;

/** What a directory asks of the walk. */
interface Asked {
  readonly choose: (entry: TreeEntry) => boolean;
  readonly pause: () => Promise<void>;
  /** Reads the tree after it was dropped. */
  readonly readAgain: () => Promise<Uint8Array>;
}

/** A directory that is being walked. Its entries are made a window at a time, since it may have a
 * million, and directories above it as many. */
export class OpenDirectory {
  /** Byte string that ends in "/", "" for the root. */
  readonly path: string;
  readonly #asked: Asked;
  readonly #sizeBytes: number;
  /** Null: dropped. */
  #content: Uint8Array | null;
  /** Whether an entry precedes all that are wanted; null: none does any more. */
  #isPassed: ((cursor: TreeCursor) => boolean) | null;
  /** Where the next window begins. */
  #at: number;
  #window: TreeEntry[] = [];
  #taken = 0;

  /** @param after files up to this path are skipped */
  constructor(path: string, content: Uint8Array, after: string, asked: Asked) {
    this.path = path;
    this.#asked = asked;
    this.#content = content;
    this.#sizeBytes = content.length;
    const isWithin = after.startsWith(path);
    this.#isPassed = isWithin ? beforePath(after.slice(path.length)) : null;
    this.#at = !isWithin && after > path ? content.length : 0;
  }

  /** The next entry that is wanted; undefined: there is none. Its `oid` is a copy. */
  async next(): Promise<TreeEntry | undefined> {
    if (this.#taken === this.#window.length) await this.#fill();
    return this.#window[this.#taken++];
  }

  /** The directories among the entries that were made and not taken yet. */
  *directoriesAhead(): Generator<TreeEntry, void, void> {
    for (let at = this.#taken; at < this.#window.length; at++)
      if (isTreeMode(this.#window[at]!.mode)) yield this.#window[at]!;
  }

  get heldBytes(): number {
    return this.#content?.length ?? 0;
  }

  /** Drops the content, which is read again if it is needed. */
  drop(): void {
    this.#content = null;
  }

  async #fill(): Promise<void> {
    const window: TreeEntry[] = [];
    this.#window = window;
    this.#taken = 0;
    if (this.#at === this.#sizeBytes) return;
    const { choose, pause, readAgain } = this.#asked;
    this.#content ??= await readAgain();
    const cursor = new TreeCursor(this.#content, undefined, this.#at);
    let nameBytes = 0;
    for (let passed = 1; !cursor.isAtEnd && window.length < WINDOW_ENTRIES && nameBytes < WINDOW_NAME_BYTES; passed++) {
      if (this.#isPassed?.(cursor) === true) {
        if (passed % ENTRIES_PER_PAUSE === 0) await pause();
      } else {
        this.#isPassed = null;
        const { entry } = cursor;
        if (choose(entry)) {
          nameBytes += entry.name.length;
          // The id is a copy, so that the content does not stay.
          window.push({ ...entry, oid: entry.oid.slice() });
        }
        await pause();
      }
      cursor.advance();
    }
    this.#at = cursor.at;
    if (cursor.isAtEnd) this.drop();
  }
}

/** Which entries precede a path, and all below it.
 * @param path from the directory, byte string; "": nothing precedes it */
function beforePath(path: string): ((cursor: TreeCursor) => boolean) | null {
  if (path === "") return null;
  const slash = path.indexOf("/");
  // The directory on the way is entered. Whatever follows it in the tree follows the path.
  const key = fromByteString(slash < 0 ? path : path.slice(0, slash + 1));
  return slash < 0 ? (cursor) => cursor.compareKey(key) <= 0 : (cursor) => cursor.compareKey(key) < 0;
}
