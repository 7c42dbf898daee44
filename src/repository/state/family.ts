import type { FsckSetting } from "../../codec/fsck-messages.ts";
import type { CopyPart, CopyPlace } from "../../store/forks/table-copy.ts";
import type { RefColumns } from "../../store/refs/refs.ts";

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

/** What repositories answer others of their family. The caller's rights were checked before. */
export interface FamilyMember {
  /** Begins to be forked: pins every R2 object that its chunks are in, and returns the state to
   * copy; null: there is no repository.
   * @param holder id of the fork
   * @param version of the pin, higher than any before */
  beginFork(holder: string, version: number): Promise<ForkOrigin | null>;
  /** A further part of the tables; null: rows have moved since the layout was read. */
  readForkPart(layout: string, place: CopyPlace): Promise<CopyPart | null>;
  /** Sets which of its R2 objects another repository needs: they stay until it says otherwise.
   * @param version a request with a lower one than before changes nothing
   * @returns whether all of them are there; if not, nothing has changed */
  pin(holder: string, version: number, keys: readonly string[]): Promise<boolean>;
}

/** The other repositories of the deployment. */
export interface FamilyPort {
  /** @param id the registry's */
  open(id: string): FamilyMember;
}
