import type { FsckSetting } from "../../base/codec/fsck-messages.ts";
import type { CopyPart, CopyPlace } from "../store/forks/table-copy.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ObjectColumns } from "../store/index/object-columns.ts";
import type { LfsPointer } from "../store/lfs/lfs-table.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { RefColumns } from "../../contract/refs.ts";

/** The state of the parent from which a fork starts. */
export interface ForkOrigin {
  /** Schema version of the parent's tables. */
  readonly schema: number;
  readonly fsck: FsckSetting;
  /** All refs except HEAD. */
  readonly refs: RefColumns;
  /** The target of HEAD; null: there is no HEAD. */
  readonly head: string | null;
  /** The first part of the tables. */
  readonly first: CopyPart;
  /** Identifies this state of the tables. */
  readonly layout: string;
}

/** A shared commit. */
export interface SharedNode {
  readonly number: ObjectNumber;
  /** Packed ids of the parents. */
  readonly parents: Uint8Array;
  /** Id of the root tree. */
  readonly tree: Uint8Array;
  /** Commit time, seconds. */
  readonly time: number;
  /** The objects that the commit reaches and none of its parents does: an encoded number set. */
  readonly introduced: Uint8Array;
}

/** A shared chunk. */
export interface SharedChunk extends ChunkRow {
  /** Inline bytes; null: the chunk is in R2. */
  readonly bytes: Uint8Array | null;
}

/** Commits, and the stored places of the objects that they introduce. Numbers are those of the
 * repository that shares them. */
export interface SharedHistory {
  readonly fsck: FsckSetting;
  /** Id of the branch's tip. */
  readonly tip: Uint8Array;
  /** Commits, parents first. */
  readonly nodes: readonly SharedNode[];
  /** Rows of the objects and of their delta bases; ascending by number. */
  readonly rows: ObjectColumns;
  /** The rows that serve only as delta bases: an encoded number set. */
  readonly bases: Uint8Array;
  readonly chunks: readonly SharedChunk[];
  /** Blobs that passed git's checks for special names, and these names as bits. */
  readonly vetted: readonly (readonly [object: ObjectNumber, names: number])[];
  /** Pointer files of Git LFS among the blobs, and the stored ones among their objects. */
  readonly pointers: readonly LfsPointer[];
  readonly lfs: readonly StoredLfsObject[];
  /** Whether the tip is not among the nodes. If so, the caller must ask again, with all objects
   * that it has by then. */
  readonly isPart: boolean;
}

/** Another repository's request for a history. */
export interface HistoryRequest {
  /** Id of the requesting repository. */
  readonly holder: string;
  /** Version of the pin, higher than any before. */
  readonly version: number;
  /** Branch without `refs/heads/`, byte string. */
  readonly branch: string;
  /** Packed ids of commits that the requesting repository has, with everything that they reach. */
  readonly haves: Uint8Array;
}

/** The functions of a repository for others of its family. The caller's rights were checked
 * before. */
export interface FamilyMember {
  /** Begins to be forked: pins every R2 object that contains its chunks, and returns the state to
   * copy. `missing`: there is no repository; `overtaken`: a request with a higher version came
   * before, and nothing has changed.
   * @param holder id of the fork
   * @param version version of the pin, higher than any before */
  beginFork(holder: string, version: number): Promise<ForkOrigin | "missing" | "overtaken">;
  /** Reads another part of the tables; null: rows have moved since the layout was read. */
  readForkPart(layout: string, place: CopyPlace): Promise<CopyPart | null>;
  /** Shares the commits of a branch that another repository lacks, some 100,000 objects at a time.
   * Pins the R2 objects that contain them, in addition to those already pinned; null: there is no
   * such branch. */
  shareHistory(request: HistoryRequest): Promise<SharedHistory | null>;
  /** Pins the R2 objects that another repository needs, in place of those pinned for it before.
   * @returns whether they are pinned; if not, one of them no longer exists, or a request with a
   *   higher version came before, and nothing has changed */
  pin(holder: string, version: number, keys: readonly string[]): Promise<boolean>;
}

/** The other repositories of the deployment. */
export interface FamilyPort {
  /** Opens a repository.
   * @param id the registry's id */
  open(id: string): FamilyMember;
}
