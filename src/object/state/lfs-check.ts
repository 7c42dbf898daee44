import type { StoredHash } from "../../base/chunks/stored-hash.ts";

/** An LFS object that is being read, over several requests. */
export interface LfsCheck {
  readonly hash: StoredHash;
  /** What reads it at the moment, for all who wait; null: nothing. */
  running: Promise<void> | null;
}
