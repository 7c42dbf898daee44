import { fromByteString } from "../../base/format/byte-string.ts";
import { isTreeMode, type TreeEntry } from "../../base/format/tree.ts";
import { sortKey, TreeCursor } from "../../base/format/tree-cursor.ts";
import { TimeSlice } from "../../base/pacing/time-slice.ts";

/** Bytes of the paths on one page. A page of HTML has them three times, and escaped. */
const MAX_PAGE_BYTES = 256 * 1024;

/** Entries that are passed between two looks at the clock. */
const ENTRIES_PER_PAUSE = 256;

const SLASH_END = "/";

/** A part of a directory. */
interface DirectoryPart {
  /** `next` of the part before; "": this is the first. Byte string. */
  readonly after: string;
  readonly limit: number;
  /** Whether directories come before all files; else entries have the order of the tree. */
  readonly directoriesFirst: boolean;
  /** Bytes that are shown with each name: of the path before it. */
  readonly prefixBytes: number;
}

/** The entries of a part. */
interface PickedEntries {
  /** Their ids are views of the content. */
  readonly entries: readonly TreeEntry[];
  /** How many precede the part, and how many there are in all. */
  readonly start: number;
  readonly total: number;
  /** `after` for the next part; null: this is the last. */
  readonly next: string | null;
}

/** Picks a part of a directory. Entries that are not in it are passed without being made.
 * @param content of the directory's tree
 * @param look is shown each entry of the whole directory
 * @throws GitError "corrupt-object" as `TreeCursor` */
export async function pickEntries(
  content: Uint8Array,
  part: DirectoryPart,
  look?: (cursor: TreeCursor) => void,
): Promise<PickedEntries> {
  const { limit, directoriesFirst, prefixBytes } = part;
  const isBefore = comparePlace(part);
  const slice = new TimeSlice();
  /** One more than fit tell that there is a next part. */
  const first: TreeEntry[] = [];
  const second: TreeEntry[] = [];
  let [start, total] = [0, 0];
  for (const cursor = new TreeCursor(content); !cursor.isAtEnd; cursor.advance()) {
    if (total++ % ENTRIES_PER_PAUSE === 0) await slice.pause();
    look?.(cursor);
    const list = directoriesFirst && !cursor.isTree ? second : first;
    if (isBefore(cursor)) start += 1;
    else if (list.length <= limit) list.push(cursor.entry);
  }
  const inOrder = [...first, ...second];
  let sizeBytes = 0;
  const beyond = inOrder.findIndex(({ name }) => (sizeBytes += prefixBytes + name.length) > MAX_PAGE_BYTES);
  const entries = inOrder.slice(0, Math.min(limit, beyond < 0 ? limit : Math.max(1, beyond)));
  const next = start + entries.length < total ? keyOf(entries.at(-1)!) : null;
  return { entries, start, total, next };
}

/** Whether an entry precedes a part. */
function comparePlace({ after, directoriesFirst }: DirectoryPart): (cursor: TreeCursor) => boolean {
  if (after === "") return () => false;
  const key = fromByteString(after);
  if (!directoriesFirst) return (cursor) => cursor.compareKey(key) <= 0;
  const isAmongDirectories = after.endsWith(SLASH_END);
  return (cursor) =>
    cursor.isTree === isAmongDirectories ? cursor.compareKey(key) <= 0 : cursor.isTree && !isAmongDirectories;
}

function keyOf({ name, mode }: TreeEntry): string {
  return sortKey({ name, isTree: isTreeMode(mode) });
}
