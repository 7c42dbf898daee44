import type { FsckSetting } from "../../base/codec/fsck-messages.ts";
import type { CopyPart, CopyPlace } from "../store/forks/table-copy.ts";
import type { ChunkRow } from "../store/index/chunk-row.ts";
import type { ObjectColumns } from "../store/index/object-columns.ts";
import type { LfsPointer } from "../store/lfs/lfs-table.ts";
import type { StoredLfsObject } from "../../contract/lfs.ts";
import type { ObjectNumber } from "../../base/numbers/kinds.ts";
import type { RefColumns } from "../../contract/refs.ts";

/** What a fork begins with. */
export interface ForkOrigin {
  /** The version of the parent's tables. */
  readonly schema: number;
  readonly fsck: FsckSetting;
  /** Without HEAD. */
  readonly refs: RefColumns;
  /** The ref that HEAD names; null: there is no HEAD. */
  readonly head: string | null;
  /** The first part of the tables. */
  readonly first: CopyPart;
  /** Names this state of the tables. */
  readonly layout: string;
}

/** A commit that is shared. */
export interface SharedNode {
  readonly number: ObjectNumber;
  /** Ids of its parents, packed. */
  readonly parents: Uint8Array;
  /** Id of its root tree. */
  readonly tree: Uint8Array;
  /** Seconds. */
  readonly time: number;
  /** The objects that it reaches and none of its parents does: a number set. */
  readonly introduced: Uint8Array;
}

/** A chunk that is shared. */
export interface SharedChunk extends ChunkRow {
  /** Null: they are in R2. */
  readonly bytes: Uint8Array | null;
}

/** Commits, and where the objects that they bring are stored. Numbers are those of the repository
 * that shares them. */
export interface SharedHistory {
  readonly fsck: FsckSetting;
  /** Id of the branch's tip. */
  readonly tip: Uint8Array;
  /** Parents first. */
  readonly nodes: readonly SharedNode[];
  /** Where the objects are, and what they are deltas on; ascending by number. */
  readonly rows: ObjectColumns;
  /** Those of the rows that are there only as delta bases: a number set. */
  readonly bases: Uint8Array;
  readonly chunks: readonly SharedChunk[];
  /** Blobs that passed git's checks for special names, and which. */
  readonly vetted: readonly (readonly [object: ObjectNumber, names: number])[];
  /** Which of the blobs are pointer files of Git LFS, and those of the objects that they name that
   * are there. */
  readonly pointers: readonly LfsPointer[];
  readonly lfs: readonly StoredLfsObject[];
  /** Whether the tip is not among the nodes: ask again, with what is there by then. */
  readonly isPart: boolean;
}

/** What another repository asks for. */
export interface HistoryRequest {
  /** Id of the repository that asks. */
  readonly holder: string;
  /** Of the pin, higher than any before. */
  readonly version: number;
  /** Without `refs/heads/`, byte string. */
  readonly branch: string;
  /** Ids of commits that it has with all that they reach, packed. */
  readonly haves: Uint8Array;
}

/** What repositories answer others of their family. The caller's rights were checked before. */
export interface FamilyMember {
  /** Begins to be forked: pins every R2 object that its chunks are in, and returns the state to
   * copy. `missing`: there is no repository; `overtaken`: a request with a higher version came
   * before, and nothing has changed.
   * @param holder id of the fork
   * @param version of the pin, higher than any before */
  beginFork(holder: string, version: number): Promise<ForkOrigin | "missing" | "overtaken">;
  /** A further part of the tables; null: rows have moved since the layout was read. */
  readForkPart(layout: string, place: CopyPlace): Promise<CopyPart | null>;
  /** Shares the commits of a branch that another repository lacks, some 100,000 objects at a time.
   * Pins what they are in, on top of what is pinned; null: there is no such branch. */
  shareHistory(request: HistoryRequest): Promise<SharedHistory | null>;
  /** Sets which of its R2 objects another repository needs: they stay until it says otherwise.
   * @returns whether they are pinned; if not, one of them is not there any more, or a request with
   * a higher version came before, and nothing has changed */
  pin(holder: string, version: number, keys: readonly string[]): Promise<boolean>;
}

/** The other repositories of the deployment. */
export interface FamilyPort {
  /** @param id the registry's */
  open(id: string): FamilyMember;
}
