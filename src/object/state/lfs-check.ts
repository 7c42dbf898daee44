import type { StoredHash } from "../../base/chunks/stored-hash.ts";

/** The check of an LFS object, possibly over several requests. */
export interface LfsCheck {
  readonly hash: StoredHash;
  /** The running read, on which all requests wait; null: none runs. */
  running: Promise<void> | null;
}
